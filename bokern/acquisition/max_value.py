"""Max-value entropy search, in closed form given draws of the largest value."""

from __future__ import annotations

import torch
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.probability.utils import log_ndtr
from botorch.utils.transforms import (
    average_over_ensemble_models,
    t_batch_mode_transform,
)
from torch import Tensor

from bokern.acquisition.pending import HallucinatedPending
from bokern.numerics import LOG_2PI, cholesky

DRAWS = 32
"""Functions drawn, the largest value of each of which counts."""


class MaxValueEntropy(HallucinatedPending, AnalyticAcquisitionFunction):
    r"""What a noise-free look at a candidate is expected to tell of the largest value.

    $$F(x) = \frac1K \sum_k \Big[ \frac{\gamma_k\, \varphi(\gamma_k)}
        {2\, \Phi(\gamma_k)} - \log \Phi(\gamma_k) \Big], \qquad
        \gamma_k = \frac{m_k - \mu(x)}{\sigma(x)}.$$

    The largest values m are those of functions drawn from the joint posterior at points
    that fill the box. The value of an ensemble is the mean of its members'. Pending
    points lower the variance around them.

    Cost: one joint posterior at all points, then one posterior a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        points: ``N x d``, which fill the box, in the units of the model's inputs.
        posterior_transform: Turns the posterior into the one to be maximised.
        X_pending: ``p x d`` points under evaluation.
        seed: Of the draws.

    References:
        Wang and Jegelka (2017), "Max-value entropy search for efficient Bayesian
        optimization", ICML, eq. 6.
    """

    largest: Tensor

    def __init__(
        self,
        model: Model,
        points: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(model=model, posterior_transform=posterior_transform)
        with torch.no_grad():
            posterior = self._gaussian(points, noise=False)
            mean = posterior.mean.squeeze(-1)
            root, _ = cholesky(posterior.distribution.covariance_matrix)
            generator = torch.Generator().manual_seed(seed)
            draws = torch.randn(len(points), DRAWS, generator=generator).to(mean)
            # ... x DRAWS
            largest = (mean.unsqueeze(-1) + root @ draws).amax(-2)
        self.register_buffer("largest", largest)
        self.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values, nats.
        """
        mean, sigma = self._mean_and_sigma(X)
        assert sigma is not None
        gamma = (self.largest - mean) / sigma
        log_cdf = log_ndtr(gamma)
        log_density = -0.5 * (gamma.square() + LOG_2PI)
        ratio = torch.exp(log_density - log_cdf)
        return (0.5 * gamma * ratio - log_cdf).mean(-1)
