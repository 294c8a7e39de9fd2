"""The objective as every method sees it: it notes each value and the time between."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from benchmarks.optimise.real_table import RealTable
from benchmarks.optimise.target import Target
from bokern.optimize.space import Value


class BudgetSpentError(Exception):
    """A method asked for more evaluations than it was given."""


class TargetReached(BaseException):
    """A run has what it was to find.

    Optimisers take an `Exception` for a failed evaluation; this passes through them,
    as an interruption from the keyboard does.
    """


class Recorder:
    """Evaluates a target, and records values and the CPU time before each.

    Args:
        problem: What is minimised. Values are recorded without its noise; a method
            sees those with.
        budget: How many evaluations are allowed.
        goal: A value below which the run ends; None if it spends its budget.
    """

    def __init__(self, problem: Target, budget: int, goal: float | None = None) -> None:
        self.problem = problem
        self.budget = budget
        self.goal = goal
        self.values: list[float] = []
        self.points: list[list[Value]] = []
        self.cpu_seconds: list[float] = []
        self._since = time.process_time()

    @property
    def is_done(self) -> bool:
        """Whether a value was below the goal."""
        return self.goal is not None and min(self.values, default=math.inf) < self.goal

    def __call__(self, parameters: Mapping[str, Value]) -> float:
        """What is observed at a point that a method of this process chose."""
        return self.observe(parameters, time.process_time() - self._since)

    def observe(self, parameters: Mapping[str, Value], cpu_seconds: float) -> float:
        """What is observed at a point.

        Args:
            parameters: The point.
            cpu_seconds: What it took to choose it.

        Raises:
            BudgetSpentError: If the budget was spent before.
            TargetReached: If the value is below the goal.
            ValueError: If the value is not finite.
        """
        if len(self.values) >= self.budget:
            raise BudgetSpentError(f"more than {self.budget} evaluations")
        point = {name: parameters[name] for name in self.problem.space}
        value = observed = self.problem(point)
        if isinstance(self.problem, RealTable):
            observed = self.problem.measure(point)
        if not math.isfinite(value):
            raise ValueError(f"{self.problem.name} is {value} at {point}")
        self.cpu_seconds.append(cpu_seconds)
        self.values.append(value)
        self.points.append(list(point.values()))
        if self.is_done:
            raise TargetReached
        self._since = time.process_time()
        return observed
