"""The objective as every method sees it: it notes each value and the time between."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from bokern.problems import Problem


class BudgetSpentError(Exception):
    """A method asked for more evaluations than it was given."""


class Recorder:
    """Evaluates a problem, and records values and the CPU time before each.

    Args:
        problem: The problem.
        budget: How many evaluations are allowed.
    """

    def __init__(self, problem: Problem, budget: int) -> None:
        self.problem = problem
        self.budget = budget
        self.values: list[float] = []
        self.points: list[list[float]] = []
        self.cpu_seconds: list[float] = []
        self._since = time.process_time()

    def __call__(self, parameters: Mapping[str, float]) -> float:
        """The value at a point."""
        self.cpu_seconds.append(time.process_time() - self._since)
        if len(self.values) >= self.budget:
            raise BudgetSpentError(f"more than {self.budget} evaluations")
        point = {name: parameters[name] for name in self.problem.parameter_names}
        value = self.problem(point)
        if not math.isfinite(value):
            raise ValueError(f"{self.problem.name} is {value} at {point}")
        self.values.append(value)
        self.points.append(list(map(float, point.values())))
        self._since = time.process_time()
        return value
