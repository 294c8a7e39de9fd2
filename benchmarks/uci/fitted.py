"""What a method makes of training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gpytorch
import torch
from gpytorch.likelihoods import GaussianLikelihood
from torch import Tensor

from benchmarks.predictive import Predictions
from benchmarks.tasks import Record

BLOCK = 1000
"""Points predicted at a time."""


@dataclass(frozen=True)
class Fitted:
    """A fit, and how it was come by.

    Args:
        predict: From ``m x d`` inputs to predictions of noisy targets.
        noise_sd: In units of the targets given.
        stopped_early: Whether the time limit ended the fit.
        settings: What the method was set to, with its ``dtype``.
    """

    predict: Callable[[Tensor], Predictions]
    noise_sd: float
    stopped_early: bool
    settings: Record


Method = Callable[[Tensor, Tensor, int], Fitted]
"""From inputs ``n x d``, targets ``n`` and a seed: no method is shown test data."""


def predict_blocks(
    model: gpytorch.models.GP, likelihood: GaussianLikelihood, X: Tensor
) -> Predictions:
    """Noisy targets at ``m x d`` inputs, float64, from a model of any precision."""
    dtype = likelihood.noise.dtype
    model.eval()
    likelihood.eval()
    means, variances = [], []
    law: Any
    with torch.no_grad():
        for block in X.to(dtype).split(BLOCK):
            law = model(block)
            law = likelihood(law)
            means.append(law.mean.to(X))
            variances.append(law.variance.to(X))
    mean, variance = torch.cat(means), torch.cat(variances)
    return Predictions(X.new_ones(1), mean.unsqueeze(0), variance.unsqueeze(0))


def noise_sd(likelihood: GaussianLikelihood) -> float:
    """Standard deviation of the noise, in units of the likelihood's targets."""
    return float(likelihood.noise.detach().sqrt())
