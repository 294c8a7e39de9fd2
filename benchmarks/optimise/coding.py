"""Points as rows of a unit cube, for methods that know nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.optimise.target import Parameters
from bokern.optimize.space import Parameter, Value


def to_unit(parameters: Sequence[Parameter], point: Parameters) -> list[float]:
    """Where a point lies: a value of a choice in the middle of its share."""
    return [_place(p, point[p.name]) for p in parameters]


def from_unit(parameters: Sequence[Parameter], row: Sequence[float]) -> Parameters:
    """The point that lies at a place."""
    return {p.name: p.at(unit) for p, unit in zip(parameters, row, strict=True)}


def _place(parameter: Parameter, value: Value) -> float:
    if parameter.bounds is None:
        return (parameter.values.index(value) + 0.5) / len(parameter.values)
    low, high = parameter.bounds
    if parameter.log:
        low, high, value = math.log(low), math.log(high), math.log(float(value))
    return (float(value) - low) / (high - low)
