"""Calling the user's function, and what counts as its value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bokern.errors import DataError, SpaceError
from bokern.optimize.objectives import VALUE
from bokern.optimize.values import read_values


@dataclass(frozen=True)
class Outcome:
    """Values, or the reason why there are none.

    Args:
        values: By outcome.
        sems: Their standard errors; None where they are unknown.
        reason: Why there are none.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    sems: Mapping[str, float | None] = field(default_factory=dict)
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether there are no values."""
        return bool(self.reason)

    @staticmethod
    def of(error: Exception) -> Outcome:
        """The failure that an exception is."""
        return Outcome(reason=f"{type(error).__name__}: {error}")


class BlackBox:
    """A function of named parameters.

    It is called as ``f(**parameters)`` if its signature names every parameter of the
    space (or takes ``**keywords``) and needs no others, else with one dictionary, as
    ``f(parameters)``.

    Args:
        f: The function. It returns a number, ``(number, standard error)``, or a
            dictionary of these by outcome.
        names: Names of the parameters.
        outcomes: Names of the outcomes.

    Raises:
        SpaceError: If it can be called in neither way.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        names: Sequence[str],
        outcomes: Sequence[str] = (VALUE,),
    ) -> None:
        if not callable(f):
            raise SpaceError(f"expected a function to minimise, got {f!r:.60}")
        self.function = f
        self._outcomes = tuple(outcomes)
        self.takes_keywords = _takes_keywords(f, names)

    def bound(self, parameters: Mapping[str, Any]) -> Callable[[], Any]:
        """The function at a point, which needs nothing of bokern to be called."""
        if self.takes_keywords:
            return partial(self.function, **parameters)
        return partial(self.function, dict(parameters))

    def outcome(self, value: Any) -> Outcome:
        """What a returned value amounts to."""
        try:
            return Outcome(*read_values(*_split(value), self._outcomes))
        except DataError as error:
            return Outcome(reason=str(error))

    def __call__(self, parameters: Mapping[str, Any]) -> Outcome:
        """The outcome at a point; exceptions and unusable values are failures."""
        try:
            value = self.bound(parameters)()
        except Exception as error:
            return Outcome.of(error)
        return self.outcome(value)


def _split(value: Any) -> tuple[Any, Any]:
    """Values and standard errors of what a function returned."""
    if isinstance(value, tuple) and len(value) == 2:
        return value
    if isinstance(value, Mapping):
        pairs = {k: v if isinstance(v, tuple) else (v, None) for k, v in value.items()}
        if all(len(pair) == 2 for pair in pairs.values()):
            return {k: p[0] for k, p in pairs.items()}, {
                k: p[1] for k, p in pairs.items()
            }
    return value, None


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
