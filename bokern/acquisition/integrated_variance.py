"""Active learning: what an observation takes from the variance over the box."""

from __future__ import annotations

from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from bokern.acquisition.joint import joint_moments
from bokern.acquisition.pending import HallucinatedPending


class IntegratedVariance(HallucinatedPending, AnalyticAcquisitionFunction):
    r"""What an observation takes from the posterior variance, on average over points.

    $$F(x) = \frac1N \sum_i \frac{\Sigma(z_i, x)^2}{\Sigma(x, x) + s}$$

    The variance that is left does not depend on the value observed, so nothing is
    imagined: maximising F minimises the integrated posterior variance exactly. Pending
    points count as observed. The value of an ensemble is the mean of its members'.

    Reduces to: BoTorch's ``qNegIntegratedPosteriorVariance``, up to a constant and at a
    fraction of its cost.
    Cost: one joint posterior of all candidates and points a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        points: ``N x d``, which fill the box, in the units of the model's inputs.
        posterior_transform: Turns the posterior into the one to be learned.
        X_pending: ``p x d`` points under evaluation.

    References:
        Seo, Wallat, Graepel and Obermayer (2000), "Gaussian process regression: active
        data selection and test point rejection", IJCNN, eq. 11.
    """

    points: Tensor

    def __init__(
        self,
        model: Model,
        points: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
    ) -> None:
        super().__init__(model=model, posterior_transform=posterior_transform)
        self.register_buffer("points", points)
        self.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values, in squared units of the outcome.
        """
        candidates = X.reshape(-1, X.shape[-1])
        moments = joint_moments(self, candidates, self.points.to(X))
        gain = moments.cross.square().mean(-1) / moments.spread.square()
        return gain.reshape(-1, len(candidates)).mean(0).reshape(X.shape[:-2])
