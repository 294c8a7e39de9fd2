"""What the two sides of a peer's run tell each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Point = dict[str, float]
"""By name: a number of a range, or the place of a value among those of a choice."""


@dataclass(frozen=True)
class Dimension:
    """One parameter.

    Args:
        name: Its name.
        kind: ``"real"``, ``"ordered"`` or ``"unordered"``.
        low: Lower bound of a range.
        high: Upper bound of a range.
        count: How many values a choice has.
    """

    name: str
    kind: str
    low: float = 0.0
    high: float = 1.0
    count: int = 0


@dataclass(frozen=True)
class Setup:
    """What a peer knows before it chooses a point.

    Args:
        space: The parameters.
        initial: Points that were evaluated.
        values: Their values, to be minimised.
        seed: Of everything random.
        budget: Evaluations in all.
        noisy: Whether values are measurements.
    """

    space: Sequence[Dimension]
    initial: Sequence[Point]
    values: Sequence[float]
    seed: int
    budget: int
    noisy: bool


class Peer(Protocol):
    """An optimiser, made from a `Setup`."""

    def ask(self) -> Point:
        """The next point to evaluate."""

    def tell(self, point: Point, value: float) -> None:
        """The value of the point that was asked for last."""
