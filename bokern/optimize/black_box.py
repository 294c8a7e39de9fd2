"""Calling the user's function, and what counts as its value."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bokern.errors import SpaceError

LARGEST = 1e100
"""Values of this size or more are a failure: their squares overflow."""


@dataclass(frozen=True)
class Outcome:
    """A value, or the reason why there is none."""

    value: float = math.nan
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return bool(self.reason)


class BlackBox:
    """A function of named parameters.

    It is called as ``f(**parameters)`` if its signature names every parameter of the
    space (or takes ``**keywords``) and needs no others, else with one dictionary, as
    ``f(parameters)``.

    Args:
        f: The function.
        names: Names of the parameters.

    Raises:
        SpaceError: If it can be called in neither way.
    """

    def __init__(self, f: Callable[..., Any], names: Sequence[str]) -> None:
        if not callable(f):
            raise SpaceError(f"expected a function to minimise, got {f!r:.60}")
        self._f = f
        self.takes_keywords = _takes_keywords(f, names)

    def __call__(self, parameters: dict[str, Any]) -> Outcome:
        """The outcome at a point; exceptions and unusable values are failures."""
        try:
            if self.takes_keywords:
                value = self._f(**parameters)
            else:
                value = self._f(dict(parameters))
        except Exception as error:
            return Outcome(reason=f"{type(error).__name__}: {error}")
        return _outcome(value)


def _takes_keywords(f: Callable[..., Any], names: Sequence[str]) -> bool:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return False
    takes = signature.parameters.values()
    by_name = {
        p.name for p in takes if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    anything = any(p.kind is p.VAR_KEYWORD for p in takes)
    if anything or set(names) <= by_name:
        try:
            signature.bind(**dict.fromkeys(names))
        except TypeError:
            pass
        else:
            return True
    try:
        signature.bind({})
    except TypeError as error:
        raise SpaceError(
            f"the function takes {signature}, the space names {list(names)}: give it "
            "these parameters by name, or one dictionary of them"
        ) from error
    return False


def _outcome(value: Any) -> Outcome:
    if getattr(value, "shape", None) is not None and hasattr(value, "item"):
        if math.prod(value.shape) != 1:
            return Outcome(reason=f"expected one number, got {math.prod(value.shape)}")
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        kind = type(value).__name__
        return Outcome(reason=f"expected a number, got {value!r:.60} of type {kind}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        return Outcome(reason=f"the value is {number}")
    if abs(number) >= LARGEST:
        return Outcome(reason=f"the value {number:g} is too large to model")
    return Outcome(number)
