"""Where a model knows least, whatever it expects there."""

from __future__ import annotations

from copy import deepcopy
from typing import cast

import torch
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.transforms import (
    average_over_ensemble_models,
    t_batch_mode_transform,
)
from gpytorch.constraints import Interval
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from torch import Tensor

from bokern.acquisition.pending import HallucinatedPending

QUIET = 1e-4
"""Variance left to an observation taken for exact, in units of the z-scored outcome:
a spread below a hundredth of the outcome's is not worth an evaluation."""


class Uncertainty(HallucinatedPending, AnalyticAcquisitionFunction):
    r"""Log standard deviation of a model that takes its observations for exact.

    $$F(x) = \tfrac12 \log\big(k(x, x) - k(x, X)\,(k(X, X) + q I)^{-1}\,k(X, x)\big)$$

    With its own noise in place of q, a model is least certain at points that it has
    seen already, such as a corner, and another look would be taken at them without
    end. Pending points count as seen.

    Valid for: Gaussian posteriors with one output, after the posterior transform.
    Cost: a copy of the model, then one posterior a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        posterior_transform: Turns the posterior into the one to be explored.
        X_pending: ``p x d`` points under evaluation.
    """

    _log = True

    def __init__(
        self,
        model: Model,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
    ) -> None:
        super().__init__(
            model=without_noise(model), posterior_transform=posterior_transform
        )
        self.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values.
        """
        _, sigma = self._mean_and_sigma(X)
        assert sigma is not None
        return sigma.squeeze(-1).log()


def without_noise(model: Model) -> Model:
    """A copy of a model whose observations have (all but) no noise."""
    training = model.training
    # A copy of what predictions left behind would carry its graph, or fail.
    model.train()
    quiet = deepcopy(model)
    model.train(training)
    with torch.no_grad():
        for part in quiet.modules():
            if isinstance(part, FixedNoiseGaussianLikelihood):
                noise = cast(Tensor, part.noise_covar.noise)
                part.noise_covar.noise = torch.full_like(noise, QUIET)
            elif isinstance(part, GaussianLikelihood):
                constraint = cast(Interval, part.noise_covar.raw_noise_constraint)
                part.noise = constraint.lower_bound + torch.full_like(part.noise, QUIET)
    quiet.eval()
    return quiet
