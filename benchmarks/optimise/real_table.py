"""Measured tables as objectives: the value at a point is that of the nearest design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bokern.optimize.space import Parameter, Value, read_space


class RealTable:
    """A finite set of measured designs in a space of parameters.

    Every point of the space stands for the design nearest to it, each parameter scaled
    to its range and an ordered or unordered choice counted by its place among its
    values; on a full grid of choices that is the point itself. A design is worth the
    mean of its measurements. A method sees one measurement at a time: the ``k``-th of
    a design is the same for all methods of a seed, and after the last come the first
    again.

    Args:
        name: Of the table.
        space: Parameters by name, as `bokern.minimize` takes them.
        designs: ``n x d``: numbers of a range, places among the values of a choice.
        measurements: ``n x r``, to be minimised; NaN where there is none.
        seed: Of the order in which measurements come.
    """

    group = None

    def __init__(
        self,
        name: str,
        space: Mapping[str, Any],
        designs: np.ndarray,
        measurements: np.ndarray,
        seed: int = 0,
    ) -> None:
        self.name = name
        self.space = space
        self._parameters = read_space(space)
        self._designs = designs
        self._measurements = measurements
        self._seed = seed
        self._seen: Counter[int] = Counter()

    @cached_property
    def values(self) -> np.ndarray:
        """Of each design, without noise."""
        return np.nanmean(self._measurements, axis=1)

    @property
    def optimum(self) -> float:
        """The value of the best design."""
        return float(self.values.min())

    @property
    def best_percent(self) -> float:
        """A regret below this is that of one of the best hundredth of the designs."""
        ranked = np.sort(self.values)
        above = ranked[ranked > ranked[max(1, round(len(ranked) / 100)) - 1]]
        return float(above[0] - ranked[0])

    def nearest(self, parameters: Mapping[str, Value]) -> int:
        """The number of the design that a point stands for; the first of several."""
        pairs = [(p, parameters[p.name]) for p in self._parameters]
        point = np.array([_code(p, value) for p, value in pairs])
        distance = (((self._designs - point) / self._widths) ** 2).sum(1)
        return int(distance.argmin())

    def __call__(self, parameters: Mapping[str, Value]) -> float:
        """The value of the design that a point stands for, without noise."""
        return float(self.values[self.nearest(parameters)])

    def measure(self, parameters: Mapping[str, Value]) -> float:
        """The next measurement of the design that a point stands for."""
        row = self.nearest(parameters)
        there = self._measurements[row]
        there = there[~np.isnan(there)]
        order = np.random.default_rng([self._seed, row]).permutation(len(there))
        value = there[order[self._seen[row] % len(there)]]
        self._seen[row] += 1
        return float(value)

    @property
    def is_noisy(self) -> bool:
        """Whether any design was measured more than once."""
        return bool(((~np.isnan(self._measurements)).sum(1) > 1).any())

    @cached_property
    def _widths(self) -> np.ndarray:
        return np.array([_width(p) for p in self._parameters])


def _code(parameter: Parameter, value: Value) -> float:
    if parameter.bounds is None:
        return float(parameter.values.index(value))
    return float(value)


def _width(parameter: Parameter) -> float:
    if parameter.bounds is None:
        return float(len(parameter.values) - 1)
    return parameter.bounds[1] - parameter.bounds[0]
