"""The course of an optimisation: best value so far, in the right direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bokern.errors import InputError
from bokern.reporting.results import OptimizationLike

__all__ = ["Course", "course"]


@dataclass(frozen=True)
class Course:
    """The values of an optimisation, trial by trial.

    Attributes:
        trial: Number of each trial.
        value: Its value, NaN where it failed.
        best: The best value so far, NaN before the first success.
        sign: 1 when minimising, −1 when maximising.
    """

    trial: NDArray[np.int64]
    value: NDArray[np.float64]
    best: NDArray[np.float64]
    sign: int

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which trials gave no value."""
        return np.isnan(self.value)


def course(result: OptimizationLike) -> Course:
    """Read the course of an optimisation from its trials.

    Args:
        result: An optimisation.

    Returns:
        Values and best values; the direction follows from the best value.

    Raises:
        InputError: If there is no trial.
    """
    trials = result.trials
    if trials.empty:
        raise InputError(
            "expected an optimisation with trials, got none; run it before drawing it"
        )
    value = trials["value"].to_numpy(dtype=float, na_value=np.nan).copy()
    value[(trials["status"] != "completed").to_numpy()] = np.nan
    done = value[~np.isnan(value)]
    downwards = not done.size or result.best_value <= done.min()
    sign = 1 if downwards else -1
    best = sign * np.fmin.accumulate(sign * value)
    return Course(trials["trial"].to_numpy(dtype=np.int64), value, best, sign)
