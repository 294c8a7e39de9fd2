"""One run: an objective, a method, a seed."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from benchmarks.data import missing
from benchmarks.optimise.initial import initial_points
from benchmarks.optimise.objectives import OBJECTIVES
from benchmarks.optimise.peer_environment import PACKAGES, missing_peer
from benchmarks.optimise.recorder import Recorder, TargetReached
from benchmarks.optimise.target import Parameters
from benchmarks.tasks import Record
from benchmarks.versions import versions

Method = Callable[[Recorder, list[Parameters], int], Record | None]
"""What it returns, if anything, is what it found out beside the optimum."""

# By name, so that a worker imports only what its method needs.
METHODS = {
    "sobol": "botorch_peers:run_sobol",
    "logei": "botorch_peers:run_logei",
    "warp": "botorch_peers:run_warp",
    "ax": "ax_peer:run_ax",
    "bokern": "bokern_methods:run_bokern",
    "bokern-winner": "bokern_methods:run_winner",
    "bokern-mixture": "bokern_methods:run_mixture",
    "bokern-draw": "bokern_methods:run_draw",
    "bokern-ucb": "bokern_methods:run_ucb",
    "bokern-known": "bokern_methods:run_known",
    "bokern-plain": "bokern_methods:run_plain",
    "optuna-gp": "peer_process:run_optuna_gp",
    "optuna-tpe": "peer_process:run_optuna_tpe",
    "smac": "peer_process:run_smac",
    "bayes-opt": "peer_process:run_bayes_opt",
    "hebo": "peer_process:run_hebo",
}
DEFAULT_METHODS = (
    *("sobol", "logei", "warp", "ax"),
    *("optuna-gp", "optuna-tpe", "smac", "bayes-opt", "hebo"),
    *("bokern", "bokern-known", "bokern-plain"),
)
NEEDS_GROUP = frozenset({"bokern-known"})
NEEDS_ORDER = frozenset({"logei", "warp"})
"""These know ranges and ordered values only."""

DIGITS = 4
"""Significant digits of the times that are recorded."""


@dataclass(frozen=True)
class Run:
    """A run that can be pickled and that names itself.

    Args:
        objective: A name of ``OBJECTIVES``.
        method: A name of ``METHODS``.
        seed: Of the initial points, the method and the draw.
    """

    objective: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Objective, method and seed."""
        return f"{self.objective}/{self.method}/{self.seed}"

    @property
    def applies(self) -> bool:
        """Whether the method is made for such an objective."""
        objective = OBJECTIVES[self.objective]
        if self.method in NEEDS_GROUP:
            return objective.has_group
        return not (self.method in NEEDS_ORDER and objective.has_kinds)

    @property
    def obstacle(self) -> str | None:
        """Why it cannot run here, and how to mend it."""
        lacking = missing(list(OBJECTIVES[self.objective].files))
        if lacking is None and self.method in PACKAGES:
            return missing_peer(self.method)
        return lacking

    def execute(self) -> Record:
        """Runs to the end or to the method's failure, and records either."""
        objective = OBJECTIVES[self.objective]
        problem = objective.problem(self.seed)
        optimum = problem.optimum
        initial = initial_points(problem, self.seed)
        method = _load(self.method)
        threshold = objective.threshold(problem)
        goal = optimum + threshold if objective.ends_when_solved else None
        recorder = Recorder(problem, objective.budget, goal)
        began = time.perf_counter()
        error, found = None, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = method(recorder, initial, self.seed)
                if len(recorder.values) < objective.budget and not recorder.is_done:
                    error = f"stopped after {len(recorder.values)} evaluations"
            except TargetReached:
                pass
            except Exception:
                error = traceback.format_exc(limit=-3)
        found = found or {}
        return {
            "objective": self.objective,
            "method": self.method,
            "seed": self.seed,
            "budget": objective.budget,
            "initial": len(initial),
            "optimum": optimum,
            "threshold": threshold,
            "ends_when_solved": objective.ends_when_solved,
            "values": recorder.values,
            "cpu_seconds": [_short(x) for x in recorder.cpu_seconds],
            "wall_seconds": _short(time.perf_counter() - began),
            "error": error,
            "warnings": _counts(caught),
            "versions": versions() | found.pop("versions", {}),
            "found": found,
        }


def _short(seconds: float) -> float:
    return float(f"{seconds:.{DIGITS}g}")


def _load(name: str) -> Method:
    module, function = METHODS[name].split(":")
    method: Method = getattr(import_module(f"benchmarks.optimise.{module}"), function)
    return method


def _counts(caught: list[warnings.WarningMessage]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for warning in caught:
        kind = warning.category.__name__
        counts[kind] = counts.get(kind, 0) + 1
    return counts
