"""Log expected improvement, in closed form until points are pending."""

from __future__ import annotations

from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.sampling.normal import SobolQMCNormalSampler
from torch import Size, Tensor

SAMPLES = 256
"""Quasi-random samples of the values at the pending points."""


class LogEI(AcquisitionFunction):
    """Log expected improvement of one candidate, whether or not points are pending.

    With nothing pending it has a closed form. With pending points it is the expected
    improvement of the candidate and these points together, averaged over their values
    by quasi-Monte Carlo, so that a candidate gains nothing near a pending point.

    Reduces to: BoTorch's ``LogExpectedImprovement`` when nothing is pending, its
    ``qLogExpectedImprovement`` otherwise.
    Cost: one posterior a call, joint over the candidate and the pending points.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        best_f: Best observed value, after the posterior transform.
        posterior_transform: Turns the posterior into the one to be maximised.
        X_pending: ``p x d`` points under evaluation.
        seed: Seed of the samples; drawn from PyTorch's global generator if None.
    """

    _log = True
    X_pending: Tensor | None  # type: ignore[assignment]

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(model=model)
        self._closed_form = LogExpectedImprovement(
            model, best_f=best_f, posterior_transform=posterior_transform
        )
        self._joint = qLogExpectedImprovement(
            model,
            best_f=best_f,
            sampler=SobolQMCNormalSampler(Size([SAMPLES]), seed=seed),
            posterior_transform=posterior_transform,
        )
        self.set_X_pending(X_pending)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:  # noqa: N802
        """Declares points that are being evaluated.

        Args:
            X_pending: ``p x d``, in the units of the model's inputs, or None.
        """
        super().set_X_pending(X_pending)
        self._joint.set_X_pending(X_pending)

    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values.
        """
        if self.X_pending is None:
            return self._closed_form(X)
        return self._joint(X)
