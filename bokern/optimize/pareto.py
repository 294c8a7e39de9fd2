"""The best of the completed trials."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from botorch.utils.multi_objective.pareto import is_non_dominated

from bokern.errors import TrialError
from bokern.optimize.constraints import keeps_all
from bokern.optimize.settings import Problem
from bokern.optimize.trial import Trial


def feasible(trials: Sequence[Trial], problem: Problem) -> list[Trial]:
    """Those of completed trials that keep the outcome constraints."""
    return [t for t in trials if keeps_all(problem.outcome_constraints, t.values)]


def best_trial(trials: Sequence[Trial], problem: Problem) -> Trial:
    """The best of completed trials.

    Raises:
        TrialError: If none is feasible, or there are several objectives.
    """
    if len(problem.objectives) > 1:
        names = [o.name for o in problem.objectives]
        raise TrialError(
            f"with the objectives {names} there is no one best trial: pareto lists "
            "those that no other beats in all of them"
        )
    kept = feasible(trials, problem)
    if not kept:
        why = "was completed" if not trials else "keeps the outcome constraints"
        raise TrialError(f"there is no best trial: none {why} yet")
    sign = 1.0 if problem.objectives[0].minimize else -1.0
    return min(kept, key=lambda t: sign * t.values[problem.objectives[0].name])


def pareto_trials(trials: Sequence[Trial], problem: Problem) -> list[Trial]:
    """Feasible trials that no other beats in all objectives, in their order."""
    kept = feasible(trials, problem)
    if not kept:
        return []
    signs = [-1.0 if o.minimize else 1.0 for o in problem.objectives]
    Y = torch.tensor(
        [
            [
                s * t.values[o.name]
                for s, o in zip(signs, problem.objectives, strict=True)
            ]
            for t in kept
        ],
        dtype=torch.float64,
    )
    return [t for t, best in zip(kept, is_non_dominated(Y), strict=True) if best]
