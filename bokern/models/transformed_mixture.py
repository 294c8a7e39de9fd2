"""A mixture of Gaussians, seen through an outcome transform that is not linear."""

from __future__ import annotations

from botorch.posteriors import TransformedPosterior
from botorch.posteriors.fully_bayesian import MCMC_DIM
from torch import Tensor


class TransformedMixturePosterior(TransformedPosterior):
    """A transformed mixture, with moments over its slots.

    ``mean`` and ``variance`` are of each slot, ``b x slots x q x m``, as ensembles have
    them in BoTorch.

    Args:
        posterior: The transformed mixture.
    """

    def __init__(self, posterior: TransformedPosterior) -> None:
        super().__init__(
            posterior._posterior,
            posterior._sample_transform,
            posterior._mean_transform,
            posterior._variance_transform,
        )

    @property
    def mixture_mean(self) -> Tensor:
        """Mean over the slots, ``b x q x m``."""
        return self.mean.mean(MCMC_DIM)

    @property
    def mixture_variance(self) -> Tensor:
        """Variance of the mixture, ``b x q x m``."""
        spread = self.mean.var(MCMC_DIM, correction=0)
        return self.variance.mean(MCMC_DIM) + spread
