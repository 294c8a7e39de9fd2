"""One run: an objective, a method, a seed."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from benchmarks.optimise.objectives import OBJECTIVES, Parameters, initial_points
from benchmarks.optimise.recorder import Recorder
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
}
DEFAULT_METHODS = ("sobol", "logei", "warp", "ax", "bokern", "bokern-known")
NEEDS_GROUP = frozenset({"bokern-known"})


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
        """Whether the objective has what the method needs."""
        if self.method not in NEEDS_GROUP:
            return True
        return OBJECTIVES[self.objective].problem(self.seed).group is not None

    def execute(self) -> Record:
        """Runs to the end or to the method's failure, and records either."""
        objective = OBJECTIVES[self.objective]
        problem = objective.problem(self.seed)
        optimum = problem.optimum
        initial = initial_points(problem, self.seed)
        method = _load(self.method)
        recorder = Recorder(problem, objective.budget)
        began = time.perf_counter()
        error, found = None, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = method(recorder, initial, self.seed)
                if len(recorder.values) < objective.budget:
                    error = f"stopped after {len(recorder.values)} evaluations"
            except Exception:
                error = traceback.format_exc(limit=-3)
        return {
            "objective": self.objective,
            "method": self.method,
            "seed": self.seed,
            "budget": objective.budget,
            "initial": len(initial),
            "optimum": optimum,
            "threshold": objective.threshold(problem),
            "values": recorder.values,
            "points": recorder.points,
            "found": found,
            "cpu_seconds": recorder.cpu_seconds,
            "wall_seconds": time.perf_counter() - began,
            "error": error,
            "warnings": _counts(caught),
            "versions": versions(),
        }


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
