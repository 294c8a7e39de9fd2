"""The course of an optimisation: best value so far, in the right direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from bokern.errors import InputError
from bokern.reporting.results import OptimizationLike

__all__ = ["Course", "completed", "course", "keeping"]


@dataclass(frozen=True)
class Course:
    """The values of an objective, trial by trial.

    Attributes:
        name: Of the objective.
        trial: Number of each trial.
        value: Its value, NaN where it failed.
        kept: Whether it keeps the constraints on outcomes; False where it failed.
        best: The best value so far of those that do, NaN before the first.
        sign: 1 when minimising, −1 when maximising.
    """

    name: str
    trial: NDArray[np.int64]
    value: NDArray[np.float64]
    kept: NDArray[np.bool_]
    best: NDArray[np.float64]
    sign: int

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which trials gave no value."""
        return np.isnan(self.value)


def course(result: OptimizationLike, objective: str | None = None) -> Course:
    """Read the course of an optimisation from its trials.

    Args:
        result: An optimisation.
        objective: Which one; the first by default.

    Returns:
        Values and best values.

    Raises:
        InputError: If there is no trial, or no such objective.
    """
    trials = result.trials
    if trials.empty:
        raise InputError(
            "expected an optimisation with trials, got none; run it before drawing it"
        )
    name = objective or next(iter(result.objectives))
    if name not in result.objectives:
        raise InputError(
            f"expected an objective among {list(result.objectives)}, got {name!r:.60}"
        )
    value = trials[name].to_numpy(dtype=float, na_value=np.nan).copy()
    value[(trials["status"] != "completed").to_numpy()] = np.nan
    kept = keeping(result, trials) & ~np.isnan(value)
    sign = 1 if result.objectives[name] == "minimize" else -1
    counted = np.where(kept, value, np.nan)
    best = sign * np.fmin.accumulate(sign * counted)
    number = trials["trial"].to_numpy(dtype=np.int64)
    return Course(name, number, value, kept, best, sign)


def keeping(result: OptimizationLike, trials: DataFrame) -> NDArray[np.bool_]:
    """Which rows of a table of trials keep the constraints on outcomes."""
    kept = np.ones(len(trials), dtype=bool)
    for constraint in result.outcome_constraints:
        names = [name for name, _ in constraint.weights]
        rows = trials[names].to_dict("records")
        kept &= np.array([constraint.keeps(row) for row in rows], dtype=bool)
    return kept


def completed(result: OptimizationLike, outcome: str) -> DataFrame:
    """The completed trials, a row each.

    Args:
        result: An optimisation.
        outcome: An objective, or a constrained outcome.

    Raises:
        InputError: If there is no such outcome.
    """
    constrained = [n for c in result.outcome_constraints for n, _ in c.weights]
    known = list(dict.fromkeys([*result.objectives, *constrained]))
    if outcome not in known:
        raise InputError(f"expected an outcome among {known}, got {outcome!r:.60}")
    trials = result.trials
    done = (trials["status"] == "completed") & trials[outcome].notna()
    return trials[done].reset_index(drop=True)
