"""Linear constraints on parameters and bounds on outcomes, as text.

The grammar is our own and small, so that no text of a user's is ever evaluated::

    constraint := sum ("<=" | ">=") sum
    sum        := ["+" | "-"] term (("+" | "-") term)*
    term       := number | number "*" name | name ["*" number]

A name is a word of letters, digits and underscores, or any text in double quotes.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from ax.utils.common.string_utils import SYMPY_GLOBALS
from scipy.optimize import linprog

from bokern.errors import SpaceError
from bokern.optimize.space import Parameter, Value

LONGEST = 10_000
"""Characters of a constraint at most."""

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r'|(?P<name>[^\W\d]\w*|"[^"]+")|(?P<sign><=|>=|[-+*]))'
)

HOW = (
    "a constraint is a sum of parameters with factors, <= or >=, and a number, such as "
    "'x + 2*y <= 1.5'; a name with spaces stands in double quotes"
)


@dataclass(frozen=True)
class Linear:
    """``weights · names <= bound``.

    Args:
        weights: By name, none of them 0.
        bound: What the weighted sum may be at most.
    """

    weights: tuple[tuple[str, float], ...]
    bound: float

    def __str__(self) -> str:
        terms = [f"{weight!r}*{_quoted(name)}" for name, weight in self.weights]
        return f"{' + '.join(terms)} <= {self.bound!r}".replace("+ -", "- ")

    def excess(self, values: Mapping[str, Any]) -> float:
        """How far values exceed the bound; at most 0 where it is kept."""
        return sum(w * float(values[name]) for name, w in self.weights) - self.bound

    def keeps(self, values: Mapping[str, Any]) -> bool:
        """Whether values keep the constraint, but for rounding."""
        size = sum(abs(w * float(values[name])) for name, w in self.weights)
        return self.excess(values) <= 1e-8 * max(size, abs(self.bound))


def read_linear(text: Any) -> Linear:
    """One constraint from its text.

    Raises:
        SpaceError: If it is not of the grammar; the message says where.
    """
    if not isinstance(text, str):
        raise SpaceError(f"a constraint is a text, got {text!r:.60}; {HOW}")
    if len(text) > LONGEST:
        raise SpaceError(f"a constraint of {len(text)} characters is too long; {HOW}")
    tokens = _tokens(text)
    sides: list[list[tuple[str, str]]] = [[]]
    relation = None
    for kind, token in tokens:
        if token in ("<=", ">="):
            if relation is not None:
                raise SpaceError(
                    f"{text!r:.200} has two relations: write two constraints"
                )
            relation = token
            sides.append([])
        else:
            sides[-1].append((kind, token))
    if relation is None:
        raise SpaceError(f"{text!r:.200} has no <= or >=; {HOW}")
    left, right = (_sum(side, text) for side in sides)
    sign = 1.0 if relation == "<=" else -1.0
    weights: dict[str, float] = {}
    for factor, (names, _) in ((sign, left), (-sign, right)):
        for name, weight in names.items():
            weights[name] = weights.get(name, 0.0) + factor * weight
    kept = tuple((name, w) for name, w in sorted(weights.items()) if w)
    if not kept:
        raise SpaceError(f"{text!r:.200} bounds no name; {HOW}")
    found = Linear(kept, sign * (right[1] - left[1]))
    if not all(map(math.isfinite, [found.bound, *(w for _, w in kept)])):
        raise SpaceError(f"{text!r:.200} has a number that is too large")
    return found


def read_constraints(
    texts: Sequence[str] | str | None, parameters: Sequence[Parameter]
) -> tuple[Linear, ...]:
    """Constraints on the parameters of a space, checked.

    Raises:
        SpaceError: If one is malformed, names no range or a range on a log scale, or no
            point keeps them all.
    """
    ranges = {p.name: p for p in parameters if p.bounds is not None and not p.log}
    found = tuple(read_linear(text) for text in _as_list(texts, "constraints"))
    for constraint in found:
        for name, _ in constraint.weights:
            if name not in ranges:
                raise SpaceError(_why_not(name, parameters))
            if not is_plain_word(name):
                raise SpaceError(
                    f"parameter {name!r} cannot stand in a constraint, since Ax's "
                    "algebra takes its name for something else: rename it to a word of "
                    "ASCII letters, digits and single underscores, such as 'gamma_1'"
                )
    if found and not _is_feasible(found, list(ranges.values())):
        raise SpaceError(
            "no point of the space keeps the constraints "
            f"{[str(c) for c in found]!r:.400}: they contradict each other or the "
            "bounds; drop or loosen one"
        )
    return found


def read_outcome_constraints(
    texts: Sequence[str] | str | None, parameters: Sequence[Parameter]
) -> tuple[Linear, ...]:
    """Bounds on outcomes, one outcome each.

    Raises:
        SpaceError: If one is malformed, has several names, or that of a parameter.
    """
    found = tuple(read_linear(text) for text in _as_list(texts, "outcome_constraints"))
    names = {p.name for p in parameters}
    limits: dict[str, list[float]] = {}
    for constraint in found:
        if len(constraint.weights) > 1:
            raise SpaceError(
                f"an outcome constraint bounds one outcome, such as 'cost <= 1.2', got "
                f"{str(constraint)!r}: tell their sum as an outcome of its own"
            )
        if constraint.weights[0][0] in names:
            raise SpaceError(
                f"{constraint.weights[0][0]!r} is a parameter, not an outcome: pass "
                f"{str(constraint)!r} in constraints="
            )
        ((name, weight),) = constraint.weights
        low, high = limits.setdefault(name, [-math.inf, math.inf])
        bound = constraint.bound / weight
        limits[name] = (
            [low, min(high, bound)] if weight > 0 else [max(low, bound), high]
        )
    for name, (low, high) in limits.items():
        if low > high:
            raise SpaceError(
                f"the outcome constraints on {name!r} contradict each other: it cannot "
                f"be at least {low:g} and at most {high:g}; drop or loosen one"
            )
    return found


def is_plain_word(name: str) -> bool:
    """Whether a name means nothing but itself to Ax, which reads formulas by SymPy."""
    word = name.isascii() and name.isidentifier() and "__" not in name
    return word and not keyword.iskeyword(name) and name not in SYMPY_GLOBALS


def keeps_all(constraints: Sequence[Linear], values: Mapping[str, Value]) -> bool:
    """Whether a point keeps all constraints."""
    return all(constraint.keeps(values) for constraint in constraints)


def _as_list(texts: Any, name: str) -> list[Any]:
    if texts is None:
        return []
    if isinstance(texts, str):
        return [texts]
    if isinstance(texts, Sequence):
        return list(texts)
    raise SpaceError(f"{name}= expects a list of texts, got {texts!r:.60}; {HOW}")


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place = [], 0
    end = len(text.rstrip())
    while place < end:
        match = TOKEN.match(text, place)
        if match is None:
            raise SpaceError(
                f"cannot read {text!r:.200} at character {place + 1}, "
                f"{text[place:].strip()[:20]!r}; {HOW}"
            )
        found.append((str(match.lastgroup), match.group(str(match.lastgroup))))
        place = match.end()
    return found


def _sum(tokens: list[tuple[str, str]], text: str) -> tuple[dict[str, float], float]:
    """Weights by name and the constant of one side."""
    names: dict[str, float] = {}
    constant, place = 0.0, 0
    while place < len(tokens):
        sign = 1.0
        if tokens[place][1] in "+-":
            sign = -1.0 if tokens[place][1] == "-" else 1.0
            place += 1
        elif place:
            raise SpaceError(f"{text!r:.200} lacks a + or - between two terms; {HOW}")
        factors = tokens[place : place + 1]
        if tokens[place + 1 : place + 2] == [("sign", "*")]:
            factors = tokens[place : place + 3 : 2]
        kinds = sorted(kind for kind, _ in factors)
        if kinds not in (["name"], ["number"], ["name", "number"]):
            raise SpaceError(
                f"{text!r:.200} has a term that is no number, name or product of both; "
                f"{HOW}"
            )
        numbers = [float(token) for kind, token in factors if kind == "number"]
        weight = sign * math.prod(numbers)
        for kind, token in factors:
            if kind == "name":
                name = token.strip('"')
                names[name] = names.get(name, 0.0) + weight
        if kinds == ["number"]:
            constant += weight
        place += 2 * len(factors) - 1
    if not tokens:
        raise SpaceError(f"{text!r:.200} has an empty side; {HOW}")
    return names, constant


def _why_not(name: str, parameters: Sequence[Parameter]) -> str:
    known = {p.name: p for p in parameters}
    if name not in known:
        close = get_close_matches(name, known, 1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        return f"the constraints name {name!r}, which is no parameter{meant}"
    if known[name].log:
        return (
            f"parameter {name!r} is on a log scale, where a linear constraint cannot "
            "be kept: drop 'log', or constrain another parameter"
        )
    return (
        f"the constraints name {name!r}, which is no range of numbers: constrain "
        "ranges only"
    )


def _is_feasible(found: Sequence[Linear], ranges: Sequence[Parameter]) -> bool:
    names = [p.name for p in ranges]
    matrix = np.zeros((len(found), len(names)))
    for row, constraint in zip(matrix, found, strict=True):
        for name, weight in constraint.weights:
            row[names.index(name)] = weight
    bounds = [p.bounds for p in ranges]
    limits = [c.bound for c in found]
    whole = [int(p.kind == "int") for p in ranges]
    solved = linprog(
        np.zeros(len(names)), matrix, limits, bounds=bounds, integrality=whole
    )
    return bool(solved.status != 2)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'
