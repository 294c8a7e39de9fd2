"""A parameter as figures draw it and a model reads it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bokern.errors import InputError
from bokern.reporting.digits import general
from bokern.reporting.results import ParameterLike
from bokern.reporting.theme import label

__all__ = ["Axis"]

Places = NDArray[np.float64]

LONGEST_CATEGORY = 18
MOST_TICKS = 12
"""Categories that are named at an axis, at most."""


@dataclass(frozen=True)
class Axis:
    """One parameter.

    A *place* is a number: the value itself on a range, its index among the values of a
    choice. A model reads columns: the value, its decimal logarithm on a log scale, the
    index of an ordered choice, and for an unordered one a 0 or 1 for each value, named
    as Ax names them.

    Args:
        name: Of the parameter.
        low: The lowest place.
        high: The highest place.
        log: Whether the range is on a log scale.
        whole: Whether only whole numbers occur.
        values: Of a choice; empty for a range.
        ordered: Whether these have an order.
    """

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    values: tuple[Any, ...] = ()
    ordered: bool = True

    @classmethod
    def of(cls, parameter: ParameterLike) -> Axis:
        """The axis of a parameter that is not fixed."""
        if parameter.bounds is None:
            values = tuple(parameter.values)
            last = float(len(values) - 1)
            return cls(
                parameter.name, 0.0, last, values=values, ordered=parameter.ordered
            )
        low, high = map(float, parameter.bounds)
        return cls(
            parameter.name, low, high, parameter.log, whole=parameter.kind == "int"
        )

    # -- places ------------------------------------------------------------------

    def places(self, values: Sequence[Any] | NDArray[Any]) -> Places:
        """The place of each value, ``n``.

        Raises:
            InputError: If one is not a value of the choice, or no number.
        """
        return np.array([self._place(value) for value in values], dtype=float)

    def _place(self, value: Any) -> float:
        if self.values:
            truth = isinstance(value, bool | np.bool_)
            for index, known in enumerate(self.values):
                if known == value and isinstance(known, bool) == truth:
                    return float(index)
            raise InputError(
                f"{self.name!r} is one of {list(self.values)!r:.120}, got {value!r:.60}"
            )
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.name!r} is a number, got {value!r:.60}") from error

    def grid(self, size: int) -> Places:
        """At most so many places, evenly over the scale; every category."""
        if self.values:
            return np.arange(len(self.values), dtype=float)
        if self.log:
            even = np.geomspace(self.low, self.high, size)
        else:
            even = np.linspace(self.low, self.high, size)
        even[0], even[-1] = self.low, self.high
        return np.unique(even.round()) if self.whole else even

    def at(self, unit: Places) -> Places:
        """Places of quantiles in [0, 1], uniform over the values or over the scale."""
        if self.values:
            last = len(self.values) - 1
            return np.minimum(np.floor(unit * len(self.values)), last)
        low, high = self.low, self.high
        if self.log:
            low, high = math.log(low), math.log(high)
        elif self.whole:
            low, high = low - 0.5, high + 0.5
        place = low + unit * (high - low)
        place = np.exp(place) if self.log else place
        return np.clip(place.round() if self.whole else place, self.low, self.high)

    def share(self, places: Places) -> Places:
        """How far along the axis places lie, from 0 to 1."""
        low, high = self.low, self.high
        if self.log:
            low, high, places = math.log(low), math.log(high), np.log(places)
        return (places - low) / ((high - low) or 1.0)

    def away(self, places: Places, place: float) -> Places:
        """Distance from a place, in lengths of the axis; 0 or 1 without an order."""
        if self.values and not self.ordered:
            return (places != place).astype(float)
        return np.abs(self.share(places) - self.share(np.array([place])))

    def shown(self, place: float) -> str:
        """The value at a place, as text."""
        if self.values:
            return general(self.values[round(place)])
        return general(round(place) if self.whole else float(place))

    # -- what a model reads ------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        if self.values and not self.ordered:
            return tuple(f"{self.name}_OH_PARAM_{i}" for i in range(len(self.values)))
        return (self.name,)

    @property
    def box(self) -> list[tuple[float, float]]:
        """The range of each column."""
        if self.values and not self.ordered:
            return [(0.0, 1.0)] * len(self.values)
        if self.log:
            return [(math.log10(self.low), math.log10(self.high))]
        return [(self.low, self.high)]

    def encode(self, places: Places) -> NDArray[np.float64]:
        """The columns at places, ``n`` x columns."""
        if self.values and not self.ordered:
            return np.eye(len(self.values))[places.astype(int)]
        if self.log:
            ((low, high),) = self.box
            return np.clip(np.log10(places), low, high)[:, None]
        return places[:, None]

    # -- how plotly draws it -----------------------------------------------------

    @property
    def layout(self) -> dict[str, Any]:
        """Title, scale, ticks and range, for an axis of a plotly figure."""
        layout: dict[str, Any] = {"title": {"text": label(self.name)}}
        if self.values:
            where, names = self.ticks()
            layout |= {
                "tickvals": where,
                "ticktext": names,
                "range": [-0.5, len(self.values) - 0.5],
            }
        elif self.log:
            wide = math.log10(self.high / self.low) > 2
            layout |= {
                "type": "log",
                "exponentformat": "power",
                "dtick": 1 if wide else None,
                # Plotly writes powers a quarter larger.
                "tickfont": {"size": 10.5} if wide else None,
            }
        return layout

    def ticks(self) -> tuple[list[float], list[str]]:
        """Places of the categories that are named, and their names."""
        step = -(-len(self.values) // MOST_TICKS)
        where = range(0, len(self.values), step)
        names = [label(general(self.values[i]), LONGEST_CATEGORY) for i in where]
        return [float(i) for i in where], names
