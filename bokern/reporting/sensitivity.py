"""Sobol' indices: how much of a model's variation each parameter accounts for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import sobol_indices
from torch.quasirandom import SobolEngine

from bokern.errors import DataError
from bokern.reporting.observations import Observed
from bokern.reporting.predicting import predicted_mean

__all__ = ["Sensitivity", "sensitivity"]

SAMPLES = 2048
"""Base points; the estimator takes p + 2 times as many."""

FLAT = 1e-6
"""Standard deviation of the mean, relative to that of the data, that counts as none."""


@dataclass(frozen=True)
class Sensitivity:
    """Variance-based indices of the posterior mean over the whole space.

    Attributes:
        first: First-order indices, p: the share of the variance that goes, on
            average, if a parameter is fixed.
        total: Total indices, p: the share that stays if all others are fixed, on
            average; at least the first-order index, by the share of interactions.
        sd: Standard deviation of the mean over the space, raw units.
    """

    first: NDArray[np.float64]
    total: NDArray[np.float64]
    sd: float


def sensitivity(data: Observed) -> Sensitivity:
    """Sobol' indices of a model's posterior mean.

    By Saltelli's estimator on scrambled Sobol points of a fixed seed. Ranges are taken
    uniform on their own scale, choices uniform over their values, each parameter as one
    whatever the number of its columns.

    Args:
        data: A model.

    Returns:
        The indices, to about .01.

    Raises:
        DataError: If the mean is the same everywhere.

    References:
        Saltelli et al. (2010), table 2, (b) and (f).
    """
    axes = data.axes
    p = len(axes)
    engine = SobolEngine(2 * p, scramble=True, seed=0)
    draws = engine.draw(SAMPLES, dtype=torch.float64).numpy()
    A, B = draws[:, :p], draws[:, p:]
    mixed = np.tile(A, (p, 1, 1))
    for k in range(p):
        mixed[k, :, k] = B[:, k]

    def mean(units: NDArray[np.float64]) -> NDArray[np.float64]:
        places = [axis.at(units[:, k]) for k, axis in enumerate(axes)]
        return predicted_mean(data, np.stack(places, axis=1))

    values = {
        "f_A": mean(A)[None],
        "f_B": mean(B)[None],
        "f_AB": mean(mixed.reshape(-1, p)).reshape(p, 1, SAMPLES),
    }
    sd = float(values["f_A"].std())
    if not sd > FLAT * float(data.y.std()):
        raise DataError(
            f"the model sees no effect of any parameter on {data.target_name!r}: its "
            "mean is the same everywhere, and there is nothing to divide"
        )
    found = sobol_indices(func=values, n=SAMPLES)
    first = np.clip(np.reshape(found.first_order, -1), 0.0, 1.0)
    total = np.clip(np.reshape(found.total_order, -1), 0.0, 1.0)
    return Sensitivity(first, np.maximum(first, total), sd)
