"""What a model says of the function at places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors import Posterior, TransformedPosterior
from botorch.posteriors.fully_bayesian import GaussianMixturePosterior
from numpy.typing import NDArray
from torch import Tensor

from bokern.models.outcome_steps import quantiles
from bokern.models.transformed_mixture import TransformedMixturePosterior
from bokern.reporting.observations import Observed

__all__ = ["Predicted", "predicted", "predicted_mean"]

MIXTURES = (GaussianMixturePosterior, TransformedMixturePosterior)
TWO_SD = (0.02275, 0.97725)
"""Levels that a Gaussian has two standard deviations from its mean."""

BLOCK = 256
"""Points whose joint posterior is computed at a time."""


@dataclass(frozen=True)
class Predicted:
    """The posterior of the noise-free function, raw units.

    Attributes:
        mean: At each of m points.
        low: Lower end of the central 95 %, or two standard deviations below the mean.
        high: The upper end.
        skewed: Whether an outcome transform skews it.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    skewed: bool


def predicted(data: Observed, places: NDArray[np.float64]) -> Predicted:
    """Mean and band at places, m x p."""
    with torch.no_grad():
        posterior = data.model.posterior(_points(data, places))
        skewed = isinstance(posterior, TransformedPosterior)
        if skewed:
            low, high = quantiles(posterior, _mean(posterior).new_tensor(TWO_SD))
        else:
            mean, sd = _mean(posterior), _variance(posterior).clamp_min(0).sqrt()
            low, high = mean - 2 * sd, mean + 2 * sd
    return Predicted(_flat(_mean(posterior)), _flat(low), _flat(high), skewed)


def predicted_mean(data: Observed, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean at places, m x p; m may be large."""
    with torch.no_grad():
        blocks = [
            _flat(_mean(data.model.posterior(block)))
            for block in _points(data, places).split(BLOCK)
        ]
    return np.concatenate(blocks)


def _points(data: Observed, places: NDArray[np.float64]) -> Tensor:
    model: Model = data.model
    return data.inputs(places).to(next(model.parameters()))


def _mean(posterior: Posterior) -> Tensor:
    if isinstance(posterior, MIXTURES):
        return posterior.mixture_mean
    return posterior.mean  # type: ignore[attr-defined]


def _variance(posterior: Posterior) -> Tensor:
    if isinstance(posterior, MIXTURES):
        return posterior.mixture_variance
    return posterior.variance  # type: ignore[attr-defined]


def _flat(values: Tensor) -> NDArray[np.float64]:
    found: NDArray[np.float64] = values.detach().double().cpu().reshape(-1).numpy()
    return found
