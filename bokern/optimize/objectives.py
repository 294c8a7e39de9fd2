"""What a study optimises, and in which direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bokern.errors import SpaceError
from bokern.optimize.names import check_distinct, read_name
from bokern.optimize.space import RESERVED, Parameter

DIRECTIONS = ("minimize", "maximize")

VALUE = "value"
"""Name of the one outcome that has no other."""

SEM = "_sem"
"""What a column of standard errors ends in, after the name of the outcome."""


@dataclass(frozen=True)
class Objective:
    """An outcome to be made small or large.

    Args:
        name: Of the outcome.
        minimize: Whether small is good.
    """

    name: str
    minimize: bool = True

    @property
    def direction(self) -> str:
        """``"minimize"`` or ``"maximize"``."""
        return DIRECTIONS[0 if self.minimize else 1]


def read_objectives(
    direction: Any, parameters: Sequence[Parameter]
) -> tuple[Objective, ...]:
    """The objectives of a study, checked.

    Args:
        direction: ``"minimize"`` or ``"maximize"`` for one objective called ``value``,
            or a direction for each of several, by name, such as
            ``{"loss": "minimize", "accuracy": "maximize"}``.
        parameters: Whose names the objectives cannot have.

    Raises:
        SpaceError: If it is neither.
    """
    if isinstance(direction, str):
        direction = {VALUE: direction}
    if not isinstance(direction, Mapping) or not direction:
        raise SpaceError(
            "direction= is 'minimize', 'maximize', or a direction for each objective "
            f"by name, such as {{'loss': 'minimize'}}, got {direction!r:.80}"
        )
    found = []
    for name, which in direction.items():
        check_outcome_name(name, parameters)
        if which not in DIRECTIONS:
            raise SpaceError(
                f"the direction of {name!r} is 'minimize' or 'maximize', got "
                f"{which!r:.60}"
            )
        found.append(Objective(name, which == DIRECTIONS[0]))
    return tuple(found)


def check_outcome_name(name: Any, parameters: Sequence[Parameter]) -> None:
    """Refuses names that outcomes cannot have.

    Raises:
        SpaceError: If it is no word, that of a parameter, or that of another column.
    """
    read_name(name, "an outcome")
    if name in {p.name for p in parameters}:
        raise SpaceError(f"{name!r} is a parameter and an outcome: rename one of them")
    if name in RESERVED and name != VALUE:
        raise SpaceError(
            f"an outcome cannot be called {name!r}, which is a column of the table of "
            "trials"
        )


def check_columns(outcomes: Sequence[str], parameters: Sequence[Parameter]) -> None:
    """Refuses names that would be those of two columns of a table.

    Raises:
        SpaceError: If one is that of another's standard error, or looks like another.
    """
    names = [*(p.name for p in parameters), *outcomes]
    check_distinct(names)
    for outcome in outcomes:
        if f"{outcome}{SEM}" in names:
            raise SpaceError(
                f"{outcome + SEM!r} is the column of the standard error of "
                f"{outcome!r}: rename the parameter or outcome of that name"
            )
