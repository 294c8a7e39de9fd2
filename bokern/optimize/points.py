"""Points and past trials that a user gives, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bokern.errors import BoundsError, DataError, InputError, SpaceError
from bokern.optimize.events import Body
from bokern.optimize.settings import Problem
from bokern.optimize.space import Value, shown
from bokern.optimize.values import read_reason, read_values

Point = dict[str, Value]


def read_point(given: Any, problem: Problem) -> Point:
    """A point of the space, in the types and the order of its parameters.

    Args:
        given: Values by name; fixed parameters may be left out.
        problem: Whose space and constraints it is to keep.

    Raises:
        SpaceError: If parameters are missing or unknown, or a value lies outside.
        BoundsError: If it breaks a constraint.
    """
    names = problem.names
    if not isinstance(given, Mapping):
        raise SpaceError(
            f"a point needs exactly the parameters {names} by name, such as "
            f"{{{names[0]!r}: …}}, got {shown(given)}"
        )
    whole = {**problem.fixed, **given}
    missing = [n for n in names if n not in whole]
    unknown = [n for n in whole if n not in names]
    if missing or unknown:
        raise SpaceError(
            f"a point needs exactly the parameters {names}"
            + (f"; missing: {missing}" if missing else "")
            + (f"; unknown: {unknown!r:.80}" if unknown else "")
        )
    point = {p.name: p.check(whole[p.name]) for p in problem.parameters}
    for constraint in problem.constraints:
        if not constraint.keeps(point):
            raise BoundsError(
                f"the point {point} breaks {str(constraint)!r}: move it to where the "
                "constraints are kept"
            )
    return point


def read_points(given: Any, problem: Problem, what: str) -> list[Point]:
    """Several points.

    Args:
        given: A list of dictionaries.
        problem: See `read_point`.
        what: The argument, as messages call it.

    Raises:
        SpaceError: If one cannot be used; the message names it.
    """
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise SpaceError(
            f"{what}= expects a list of dictionaries with a value for each of "
            f"{problem.names}, got {shown(given)}"
        )
    return [
        _numbered(f"{what} point", number, read_point, each, problem)
        for number, each in enumerate(given)
    ]


def read_rows(rows: Iterable[Any], problem: Problem) -> list[Body]:
    """Past trials, as `bokern.optimize.exchange.rows_of` gives them.

    Raises:
        InputError: If one cannot be used; the message names its row.
    """
    return [
        _numbered("row", number, _read_row, row, problem)
        for number, row in enumerate(rows)
    ]


def _read_row(row: Any, problem: Problem) -> Body:
    parameters = row.get("parameters") if isinstance(row, Mapping) else None
    if not isinstance(parameters, Mapping):
        raise DataError(
            f"expected a dictionary with 'parameters' and 'values', got {shown(row)}"
        )
    point = read_point(parameters, problem)
    told, reason = row.get("values"), row.get("reason")
    if isinstance(told, Mapping) and not told:
        told = None
    if told is not None and reason:
        raise DataError(
            f"a past trial has 'values' or the 'reason' {shown(reason)} of its "
            "failure, not both: leave out either"
        )
    if told is not None:
        sem = row.get("sems", row.get("standard_errors"))
        values, sems = read_values(told, sem, problem.outcomes)
        return {"parameters": point, "values": values, "sems": sems}
    if not reason:
        raise DataError(
            "'values', or the 'reason' of a failure, is missing: add either"
        )
    return {"parameters": point, "reason": read_reason(reason)}


def _numbered(what: str, number: int, read: Any, given: Any, problem: Problem) -> Any:
    """What a reader makes of a thing; its errors say which it was."""
    try:
        return read(given, problem)
    except InputError as error:
        raise type(error)(f"{what} {number}: {error}") from error
