"""What a user tells of a trial, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bokern.errors import DataError
from bokern.optimize.objectives import VALUE
from bokern.optimize.space import plain, shown

LARGEST = 1e100
"""Values of this size or more are refused: their squares overflow."""

OR_ELSE = (
    "if the evaluation went wrong, say so with fail(trial, reason), or on the command "
    "line with --failed REASON"
)
"""What one does who has no value."""

LONGEST_REASON = 10_000
"""Characters of a reason that are kept."""

Numbers = dict[str, float]
Told = tuple[Numbers, dict[str, float | None]]


def read_values(value: Any, sem: Any, outcomes: Sequence[str]) -> Told:
    """Outcomes and their standard errors by name.

    Args:
        value: One number where there is one outcome, else a number for each by name.
        sem: Standard error of the value: one number, or one for each by name; 0 means
            that there is no noise, None that it is unknown.
        outcomes: Names of the outcomes.

    Raises:
        DataError: If a value is no finite number below 1e100, a standard error is
            negative, or outcomes are missing or unknown.
    """
    values = _by_name(value, outcomes, "value")
    missing = [name for name in outcomes if name not in values]
    if missing:
        raise DataError(
            f"expected a value for each of {list(outcomes)}, {missing} are missing"
        )
    sems = {} if sem is None else _by_name(sem, outcomes, "standard error")
    found = {name: read_number(values[name], _called(name)) for name in outcomes}
    return found, {name: _read_sem(sems.get(name), name) for name in outcomes}


def read_reason(reason: Any) -> str:
    """Why a trial failed, in a text of bounded length."""
    text = str(reason) or "no reason given"
    if len(text) <= LONGEST_REASON:
        return text
    return f"{text[:LONGEST_REASON]}… ({len(text)} characters in all)"


def read_number(value: Any, what: str) -> float:
    """A finite number.

    Args:
        value: A number of any library, or an array or tensor with one element.
        what: What the messages call it.

    Raises:
        DataError: If it is none.
    """
    value = plain(value)
    count = _length(value)
    if count is not None and count != 1:
        raise DataError(
            f"expected one number as {what}, got {count}: tell each trial by itself"
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(
            f"expected a number as {what}, got {shown(value)} of type "
            f"{type(value).__name__}"
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DataError(f"expected a finite number as {what}, got {number}")
    if abs(number) >= LARGEST:
        raise DataError(
            f"{number:g} is too large to model as {what}: divide by a constant, or use "
            "a penalty below 1e100"
        )
    return number


def _length(value: Any) -> int | None:
    """Elements of an array or tensor; None of anything else."""
    try:
        return math.prod(value.shape)
    except Exception:  # of an object of the user's
        return None


def _read_sem(sem: Any, name: str) -> float | None:
    """A standard error; None if it is unknown."""
    if sem is None:
        return None
    number = read_number(sem, f"standard error of the {_called(name)}")
    if number < 0:
        raise DataError(
            f"expected a standard error of 0 or more, got {number:g}: leave it out if "
            "it is unknown"
        )
    return number


def _called(name: str) -> str:
    """What messages call an outcome."""
    return "value" if name == VALUE else f"value of {name!r}"


def _by_name(given: Any, outcomes: Sequence[str], what: str) -> dict[str, Any]:
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in outcomes]
        if unknown:
            raise DataError(
                f"unknown outcomes {unknown!r:.80}: this study has {list(outcomes)}"
            )
        return dict(given)
    if len(outcomes) > 1:
        raise DataError(
            f"expected a {what} for each of {list(outcomes)} by name, such as "
            f"{{{outcomes[0]!r}: 0.3}}, got {shown(given)}"
        )
    return {outcomes[0]: given}
