"""The search space as a user writes it, and as Ax wants it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

from bokern.errors import SpaceError
from bokern.optimize.names import check_distinct, is_clean, read_name

RESERVED = ("trial", "value", "status", "generator", "structure", "seconds", "reason")
"""Columns of the table of trials, which no parameter may be called."""

HOW = (
    "write (0.0, 1.0) for real numbers, (1, 10) for whole numbers, (1e-5, 1e-1, 'log') "
    "for a log scale, [1, 2, 4] for ordered values, choice('a', 'b') for unordered "
    "ones, 3 or 'a' for a value that is fixed"
)

MOST_VALUES = 1000
"""Values of one choice: an unordered one becomes a column for each."""

LONGEST_TEXT = 1000
"""Characters of one value of a choice."""

LARGEST, SMALLEST = 1e300, 1e-300
"""Between these lie the bounds of ranges, their widths, and values of a log scale."""

LARGEST_WHOLE = 2**53
"""Whole numbers beyond it are no floating-point numbers, which models compute with."""

LARGEST_CHOICE = 1e38
"""Ax holds the values of choices in single precision."""

NARROWEST = 1e-9
"""Width of a range in units of its bounds: rounding is far below it."""

Kind = Literal["float", "int", "str", "bool"]
Value = float | int | str | bool


@dataclass(frozen=True)
class Choice:
    """Values without an order; made by `choice`."""

    values: tuple[Value, ...]


def choice(*values: Value) -> Choice:
    """A parameter with values that have no order, such as ``choice("a", "b")``."""
    return Choice(values)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a checked space.

    Args:
        name: Its name.
        kind: Type of its values.
        bounds: Lower and upper bound of a range; None for values.
        log: Whether the range is on a log scale.
        values: The values of a choice, the only one if it is fixed; empty for a range.
        ordered: Whether the values are ordered.
    """

    name: str
    kind: Kind
    bounds: tuple[float, float] | None = None
    log: bool = False
    values: tuple[Value, ...] = ()
    ordered: bool = True

    @property
    def is_fixed(self) -> bool:
        """Whether it has one value, which is not searched."""
        return len(self.values) == 1

    @property
    def declared(self) -> Any:
        """The parameter as a user writes it in a space."""
        if self.is_fixed:
            return self.values[0]
        if self.bounds is None:
            return list(self.values) if self.ordered else Choice(self.values)
        return (*self.bounds, "log") if self.log else self.bounds

    @property
    def size(self) -> int | None:
        """Number of its values; None if they are real numbers of a range."""
        if self.bounds is None:
            return len(self.values)
        if self.kind == "float":
            return None
        return int(self.bounds[1]) - int(self.bounds[0]) + 1

    def to_ax(self) -> RangeParameterConfig | ChoiceParameterConfig:
        """The configuration that Ax's client takes."""
        if self.bounds is None:
            return ChoiceParameterConfig(
                name=self.name,
                values=list(self.values),  # type: ignore[arg-type]
                parameter_type=self.kind,
                is_ordered=self.ordered,
            )
        assert self.kind in ("float", "int")
        return RangeParameterConfig(
            name=self.name,
            bounds=self.bounds,
            parameter_type=self.kind,
            scaling="log" if self.log else "linear",
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON document that describes the parameter."""
        if self.is_fixed:
            return {"kind": self.kind, "value": self.values[0]}
        if self.bounds is None:
            return {"values": list(self.values), "ordered": self.ordered}
        return {"kind": self.kind, "bounds": list(self.bounds), "log": self.log}

    @staticmethod
    def from_json(name: str, document: Any) -> Parameter:
        """The parameter that `to_json` described.

        Raises:
            SpaceError: If it is malformed.
        """
        match document:
            case {"value": value}:
                return _read(name, value)
            case {"values": list(values), "ordered": True}:
                return _read(name, values)
            case {"values": list(values), "ordered": False}:
                return _read(name, Choice(tuple(values)))
            case {"kind": kind, "bounds": [low, high], "log": log}:
                if kind == "float":
                    low, high = _as_float(low), _as_float(high)
                return _read(name, (low, high, "log") if log else (low, high))
        raise SpaceError(f"parameter {name!r}: cannot read {document!r:.80}")

    def at(self, unit: float) -> Value:
        """The value that lies at a place of its range.

        Args:
            unit: From 0 to 1, uniform over the values of a choice and over a range, on
                its own scale.
        """
        if self.bounds is None:
            return self.values[min(int(unit * len(self.values)), len(self.values) - 1)]
        low, high = self.bounds
        if self.kind == "int":
            # Each whole number has the same share of the scale.
            low, high = (low - 0.5, high + 0.5) if not self.log else (low, high)
        if self.log:
            value = math.exp(math.log(low) + unit * (math.log(high) - math.log(low)))
        else:
            value = low + unit * (high - low)
        value = min(max(value, self.bounds[0]), self.bounds[1])
        return round(value) if self.kind == "int" else value

    def check(self, value: Any) -> Value:
        """The value, in the parameter's own type.

        Raises:
            SpaceError: If it lies outside the space.
        """
        value = plain(value)
        if self.bounds is None:
            for known in self.values:
                if type(known) is type(value) and known == value:
                    return known
            if self.kind == "float" and _is_number(value) and value in self.values:
                return float(value)
            raise SpaceError(
                f"parameter {self.name!r} is one of {list(self.values)!r:.400}, got "
                f"{shown(value)}"
            )
        lower, upper = self.bounds
        if not _is_number(value) or not lower <= value <= upper:
            raise SpaceError(
                f"parameter {self.name!r} lies in [{lower:g}, {upper:g}], got "
                f"{shown(value)}: put the point into the space, or begin a study with "
                "a wider one"
            )
        if self.kind == "float":
            return float(value)
        if int(value) != value:
            raise SpaceError(
                f"parameter {self.name!r} is a whole number, got {value!r}: put the "
                "point onto one"
            )
        return int(value)


def read_space(space: Any) -> tuple[Parameter, ...]:
    """The parameters of a space, checked.

    Args:
        space: Parameters by name, as in
            ``{"x": (0.0, 1.0), "lr": (1e-5, 1e-1, "log"), "layers": [1, 2, 3],
            "kind": choice("a", "b")}``. Two whole numbers make a whole-number range.

    Raises:
        SpaceError: If it is malformed; the message names the parameter and the remedy.
    """
    if not isinstance(space, Mapping) or not space:
        raise SpaceError(
            "a space is a dictionary of at least one parameter, such as "
            f"{{'x': (0.0, 1.0)}}, got {space!r:.80}"
        )
    found = tuple(_read(name, declared) for name, declared in space.items())
    check_distinct(p.name for p in found)
    if all(parameter.is_fixed for parameter in found):
        raise SpaceError("every parameter of the space is fixed: leave one to search")
    return found


def _read(name: Any, declared: Any) -> Parameter:
    read_name(name, "a parameter")
    if name in RESERVED:
        raise SpaceError(
            f"a parameter cannot be called {name!r}, which is a column of the table of "
            f"trials: choose a name other than {', '.join(RESERVED)}"
        )
    if isinstance(declared, Choice):
        return _read_values(name, list(declared.values), ordered=False)
    if isinstance(declared, list):
        return _read_values(name, declared, ordered=True)
    if isinstance(declared, tuple):
        return _read_range(name, declared)
    value = plain(declared)
    if isinstance(value, str | bool) or _is_number(value):
        _check_values(name, [value] if isinstance(value, str) else [])
        return Parameter(name, type(value).__name__, values=(value,))  # type: ignore[arg-type]
    raise SpaceError(f"parameter {name!r}: cannot read {declared!r:.60}; {HOW}")


def _read_range(name: str, declared: tuple[Any, ...]) -> Parameter:
    log = len(declared) == 3 and declared[2] == "log"
    if len(declared) != 2 and not log:
        raise SpaceError(f"parameter {name!r}: cannot read {declared!r:.60}; {HOW}")
    lower, upper = map(plain, declared[:2])
    if not (_is_number(lower) and _is_number(upper)):
        raise SpaceError(
            f"parameter {name!r}: bounds are finite numbers, got {declared!r:.60}; "
            f"{HOW}"
        )
    if not lower < upper:
        raise SpaceError(
            f"parameter {name!r}: the lower bound must be below the upper one, got "
            f"({shown(lower)}, {shown(upper)}): swap them, or write one value"
        )
    if log and lower <= 0:
        raise SpaceError(
            f"parameter {name!r}: a log scale needs positive bounds, got "
            f"({lower!r}, {upper!r}); raise the lower bound or drop 'log'"
        )
    whole = isinstance(lower, int) and isinstance(upper, int)
    _check_scale(name, lower, upper, log, whole)
    return Parameter(
        name,
        "int" if whole else "float",
        (lower, upper) if whole else (float(lower), float(upper)),
        log,
    )


def _check_scale(name: str, lower: Any, upper: Any, log: bool, whole: bool) -> None:
    """Refuses ranges that cannot be computed with."""
    got = f"got ({shown(lower)}, {shown(upper)})"
    size = max(abs(lower), abs(upper))
    if whole and size > LARGEST_WHOLE:
        raise SpaceError(
            f"parameter {name!r}: whole numbers are at most 2**53, {got}: write them "
            "with a point for a range of real numbers"
        )
    width = math.inf if size > LARGEST else upper - lower
    if size > LARGEST or width < SMALLEST or (log and lower < SMALLEST):
        raise SpaceError(
            f"parameter {name!r}: bounds are at most {LARGEST:g}, and the width of a "
            f"range and the bounds of a log scale at least {SMALLEST:g}, {got}: "
            "multiply the parameter by a constant that brings it nearer to 1"
        )
    if width < NARROWEST * size:
        raise SpaceError(
            f"parameter {name!r}: a range is too narrow if its width is below "
            f"{NARROWEST:g} of its bounds, {got}: subtract a constant from the "
            "parameter, so that it lies near 0"
        )


def _read_values(name: str, values: list[Any], ordered: bool) -> Parameter:
    values = [plain(value) for value in values]
    _check_values(name, values)
    kinds = {type(value) for value in values}
    kind: Kind
    if kinds == {int, float}:
        kind, values = "float", [float(value) for value in values]
    elif kinds in ({float}, {int}, {str}, {bool}):
        kind = kinds.pop().__name__  # type: ignore[assignment]
    elif not kinds:
        raise SpaceError(f"parameter {name!r} has no values; {HOW}")
    else:
        raise SpaceError(
            f"parameter {name!r}: values are all numbers, all texts, or True and "
            f"False, got {values!r:.80}"
        )
    if kind == "float" and not all(map(math.isfinite, values)):
        raise SpaceError(
            f"parameter {name!r}: values are finite, got {values!r:.80}: leave out the "
            "others"
        )
    if len(set(values)) < len(values):
        raise SpaceError(
            f"parameter {name!r}: a value is repeated in {values!r:.80}: leave it once"
        )
    if len(values) < 2:
        raise SpaceError(
            f"parameter {name!r} has one value only: write {values[0]!r} by itself for "
            "a value that is fixed"
        )
    if len(values) > MOST_VALUES:
        raise SpaceError(
            f"parameter {name!r} has {len(values)} values, at most {MOST_VALUES} can "
            "be told apart: use a range, or fewer values"
        )
    return Parameter(name, kind, values=tuple(values), ordered=ordered)


def _check_values(name: str, values: list[Any]) -> None:
    """Refuses numbers and texts that cannot be stored as they are."""
    for value in values:
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise SpaceError(
                f"parameter {name!r}: a text of {len(value)} characters is too long, "
                f"{LONGEST_TEXT} at most: name the values by short words"
            )
        if isinstance(value, str) and not is_clean(value):
            raise SpaceError(
                f"parameter {name!r}: texts stand on one line, in characters of "
                f"Unicode other than controls, got {value!r:.60}"
            )
        if isinstance(value, int | float) and LARGEST_CHOICE < abs(value) < math.inf:
            raise SpaceError(
                f"parameter {name!r}: numbers are at most {LARGEST_CHOICE:g}, got "
                f"{shown(value)}: divide by a constant, or name them by words, as in "
                "choice('a', 'b')"
            )


def _as_float(value: Any) -> Any:
    return float(value) if _is_number(value) else value


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -math.inf < value < math.inf
    )


def plain(value: Any) -> Any:
    """Numbers of any library as Python's own, also from an array or tensor of one.

    Other values stay as they are.
    """
    try:
        if math.prod(getattr(value, "shape", (0,))) == 1:
            value = value.item()
    except Exception:  # of an object of the user's, which is no number then
        return value
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def shown(value: Any) -> str:
    """A value as messages show it."""
    try:
        return f"{value!r:.60}"
    except Exception:  # such as a whole number of 5000 digits
        return f"something of type {type(value).__name__}"
