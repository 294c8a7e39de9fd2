r"""Finite groups that permute columns and reflect them about the box's centre.

A group is a small frozen expression, hashable and free of tensors. Its elements are
signed permutations: in the unit cube, element ``g`` maps ``u`` to

$$(g u)_j = s_j\, u_{\pi(j)} + o_j, \qquad s_j = \pm 1,\; o_j = (1 - s_j)/2,$$

so that a reflected column is ``1 - u``. `repr` of a group is text that
`bokern.structures.parse` reads back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from bokern.errors import BoundsError, ColumnError, GroupError
from bokern.views.columns import (
    Column,
    check_column,
    column_name,
    resolve_column,
)
from bokern.views.elements import (
    Element,
    compose,
    generate,
    identity,
    permutation,
    reflection,
)
from bokern.views.spelling import Atom, components

MAX_ORDER = 5040
"""Groups above this order (seven interchangeable columns) are refused."""

MAX_COMPARED_ORDER = 120
"""Up to this order groups are compared by their elements, above it by their text."""

KINDS = (
    "permutations",
    "cyclic",
    "swap",
    "sign_flips",
    "reflections",
    "product",
    "closure",
)


@dataclass(frozen=True)
class Group:
    """A finite group acting on columns; made by the functions of this module.

    Args:
        kind: One of ``KINDS``.
        columns: Columns acted on, by name or number; empty for factors' own columns,
            and for "all columns, of which there must be ``degree``".
        degree: How many columns are moved.
        factors: The parts of a product, or the generators of a closure.
    """

    kind: str
    columns: tuple[Column, ...] = ()
    degree: int = 0
    factors: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise GroupError(
                f"unknown group {self.kind!r}: expected one of {', '.join(KINDS)}"
            )
        for column in self.columns:
            check_column(column)
        repeated = {c for c in self.columns if self.columns.count(c) > 1}
        if repeated:
            raise ColumnError(
                f"{self!r} names a column twice: {sorted(map(str, repeated))}"
            )
        if self.kind == "product":
            _check_separate(self.factors)

    def __mul__(self, other: Group) -> Group:
        if not isinstance(other, Group):
            return NotImplemented
        return product(self, other)

    def __repr__(self) -> str:
        if self.factors:
            return f"{self.kind}({', '.join(map(repr, self.factors))})"
        if self.kind in ("permutations", "cyclic"):
            columns = f", columns={list(self.columns)!r}" if self.columns else ""
            return f"{self.kind}({self.degree}{columns})"
        return f"{self.kind}({', '.join(map(repr, self.columns))})"

    def resolve(self, names: Sequence[str]) -> Group:
        """The same group with every column as a number.

        Args:
            names: Names of all columns, in order.

        Raises:
            ColumnError: If a column is unknown or named twice.
            GroupError: If the group wants another number of columns, or factors of
                a product share one.
        """
        if self.factors:
            parts = tuple(f.resolve(names) for f in self.factors)
            return Group(self.kind, factors=parts)
        columns = self.columns
        if not columns:
            if self.degree != len(names):
                raise GroupError(
                    f"{self!r} acts on all columns and expects {self.degree} of them, "
                    f"but there are {len(names)}: name the columns, as in "
                    f"{self.kind}({self.degree}, columns={list(names[: self.degree])})"
                )
            columns = tuple(range(len(names)))
        numbers = tuple(resolve_column(c, names) for c in columns)
        return Group(self.kind, numbers, self.degree)

    def named(self, names: Sequence[str]) -> Group:
        """The same group with every numbered column by its name."""
        columns = tuple(column_name(c, names) for c in self.columns)
        factors = tuple(f.named(names) for f in self.factors)
        return replace(self, columns=columns, factors=factors)

    def canonical(self) -> Group:
        """The representative of the ways to write this group.

        Of all of them if its columns are numbers and its order is at most
        ``MAX_COMPARED_ORDER``, except that sign flips, which ask for a box about
        zero, stay apart from reflections.
        """
        return _spelled(self) or self._sorted()

    def _sorted(self) -> Group:
        if self.factors:
            parts = sorted({f.canonical() for f in self.factors}, key=repr)
            return parts[0] if len(parts) == 1 else replace(self, factors=tuple(parts))
        ordered = sorted(self.columns, key=lambda c: (isinstance(c, str), c))
        if self.kind == "cyclic" and ordered:
            start = self.columns.index(ordered[0])
            ordered = [*self.columns[start:], *self.columns[:start]]
        return replace(self, columns=tuple(ordered))

    def contains(self, other: Group) -> bool:
        """Whether another group is known to be a subgroup of this one.

        Found for groups whose columns are numbers, up to ``MAX_COMPARED_ORDER``.
        """
        if self == other:
            return True
        labels = sorted(_numbers(self) | _numbers(other))
        mine, theirs = _compact(self, labels), _compact(other, labels)
        return bool(mine and theirs) and set(theirs) <= set(mine)

    def moved(self) -> tuple[int, ...]:
        """The numbers of the columns acted on.

        Raises:
            ColumnError: If a column is still a name.
        """
        if self.factors:
            return tuple(sorted({c for f in self.factors for c in f.moved()}))
        if not self.columns:
            return tuple(range(self.degree))
        numbers = tuple(c for c in self.columns if isinstance(c, int))
        if len(numbers) < len(self.columns):
            raise ColumnError(
                f"{self!r} names columns: resolve(names) turns them into numbers"
            )
        return numbers

    @property
    def reflects(self) -> bool:
        """Whether any element reflects a column."""
        return self.kind in ("sign_flips", "reflections") or any(
            f.reflects for f in self.factors
        )

    @property
    def order(self) -> int:
        """Number of elements, computed without listing them where possible."""
        match self.kind:
            case "permutations":
                return math.factorial(self.degree)
            case "cyclic":
                return self.degree
            case "swap":
                return 2
            case "sign_flips" | "reflections":
                return 2 ** len(self.columns)
            case "product":
                return math.prod(f.order for f in self.factors)
        return len(self.elements(1 + max(self.moved())))

    def elements(self, dim: int) -> tuple[Element, ...]:
        """All elements of a resolved group as signed permutations of ``dim`` columns.

        Returns:
            ``order`` elements, the identity first.

        Raises:
            ColumnError: If a column is still a name.
            GroupError: If the order exceeds ``MAX_ORDER``, or a column does not exist.
        """
        self._check_dim(dim)
        if self.kind == "closure":
            return _generate(self, dim)
        if self.order > MAX_ORDER:
            raise GroupError(
                f"{self!r} has order {_digits(self.order)}, above the limit of "
                f"{MAX_ORDER}: "
                "use a subgroup, such as cyclic(n) or a product over blocks"
            )
        if self.kind == "product":
            parts = [f.elements(dim) for f in self.factors]
            combined = itertools.product(*parts)
            return tuple(
                reduce(lambda g, h: compose(h, g), parts, identity(dim))
                for parts in combined
            )
        columns = self.moved()
        if self.kind in ("sign_flips", "reflections"):
            choices = itertools.product((False, True), repeat=len(columns))
            return tuple(reflection(dim, columns, c) for c in choices)
        return tuple(permutation(dim, columns, i) for i in self._images(columns))

    def _images(self, columns: tuple[int, ...]) -> list[tuple[int, ...]]:
        if self.kind == "cyclic":
            return [columns[k:] + columns[:k] for k in range(len(columns))]
        return list(itertools.permutations(columns))

    def orbits(self, dim: int) -> tuple[int, ...]:
        """For each column, the smallest column that an element carries it to."""
        self._check_dim(dim)
        generators = _generators(self, dim)
        labels, previous = list(range(dim)), None
        while labels != previous:
            previous = list(labels)
            for index, _ in generators:
                for j, source in enumerate(index):
                    labels[j] = labels[source] = min(labels[j], labels[source])
        return tuple(labels)

    def _check_dim(self, dim: int) -> None:
        for leaf in _leaves(self):
            if not leaf.columns and leaf.degree != dim:
                raise GroupError(
                    f"{leaf!r} acts on all columns and expects {leaf.degree} of them, "
                    f"but there are {dim}: name the columns"
                )
        if max(self.moved()) >= dim:
            raise GroupError(
                f"{self!r} moves column {max(self.moved())}, but there are only {dim}"
            )

    def check_bounds(
        self, lower: Sequence[float], upper: Sequence[float], names: Sequence[str]
    ) -> None:
        """Checks that a resolved group maps the declared box to itself.

        Raises:
            BoundsError: If permuted columns have unequal bounds, or sign-flipped
                ones are not symmetric about zero.
        """
        for factor in self.factors:
            factor.check_bounds(lower, upper, names)
        if self.factors or self.kind == "reflections":
            return
        columns = self.moved()
        if self.kind == "sign_flips":
            for c in columns:
                span = upper[c] - lower[c]
                if abs(lower[c] + upper[c]) > 1e-9 * span:
                    raise BoundsError(
                        f"{self!r} flips the sign of {names[c]!r}, whose bounds "
                        f"[{lower[c]:g}, {upper[c]:g}] are not symmetric about 0: "
                        "declare symmetric bounds, or use reflections() about the "
                        "box's centre"
                    )
            return
        first = columns[0]
        span = upper[first] - lower[first]
        for c in columns[1:]:
            unequal = abs(lower[c] - lower[first]) + abs(upper[c] - upper[first])
            if unequal > 1e-9 * span:
                raise BoundsError(
                    f"{self!r} interchanges {names[first]!r} with bounds "
                    f"[{lower[first]:g}, {upper[first]:g}] and {names[c]!r} with "
                    f"bounds [{lower[c]:g}, {upper[c]:g}]: columns that a group "
                    "interchanges need equal bounds: declare them, by bounds= or "
                    "--bounds"
                )


def permutations(n: int, columns: Sequence[Column] | None = None) -> Group:
    """The symmetric group: ``n`` interchangeable columns, order n!."""
    return _on_columns("permutations", n, columns)


def cyclic(n: int, columns: Sequence[Column] | None = None) -> Group:
    """Cyclic shifts of ``n`` columns, order n."""
    return _on_columns("cyclic", n, columns)


def swap(a: Column, b: Column) -> Group:
    """Exchange of two columns, order 2."""
    return Group("swap", (a, b), 2)


def sign_flips(*columns: Column) -> Group:
    """Sign changes ``x -> -x`` of each column by itself, order 2^len(columns)."""
    return _on_each("sign_flips", columns)


def reflections(*columns: Column) -> Group:
    """Reflections of each column about the box's centre, order 2^len(columns)."""
    return _on_each("reflections", columns)


def product(*groups: Group) -> Group:
    """Direct product of groups on separate columns."""
    factors = tuple(
        part
        for group in _check_groups("product", groups)
        for part in (group.factors if group.kind == "product" else (group,))
    )
    return Group("product", factors=factors)


def closure(*generators: Group) -> Group:
    """The smallest group that holds all the generators."""
    return Group("closure", factors=_check_groups("closure", generators))


def _on_columns(kind: str, n: int, columns: Sequence[Column] | None) -> Group:
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise GroupError(f"{kind}(n) expects a whole number n >= 2, got {n!r}")
    if isinstance(columns, str):
        raise ColumnError(
            f"columns= expects a list of names or numbers, got {columns!r}: write "
            f"columns=[{columns!r}, ...]"
        )
    chosen = tuple(columns) if columns is not None else ()
    if columns is not None and len(chosen) != n:
        raise GroupError(
            f"{kind}({n}) expects {n} columns, got {len(chosen)}: {list(chosen)}"
        )
    return Group(kind, chosen, n)


def _on_each(kind: str, columns: tuple[Column, ...]) -> Group:
    if not columns:
        raise GroupError(f"{kind}(...) expects at least one column, got none")
    return Group(kind, columns, len(columns))


def _check_groups(kind: str, groups: Sequence[Group]) -> tuple[Group, ...]:
    wrong = [g for g in groups if not isinstance(g, Group)]
    if wrong or not groups:
        raise GroupError(
            f"{kind}(...) expects groups such as swap(0, 1), got {wrong or 'nothing'}"
        )
    return tuple(groups)


def _check_separate(factors: Sequence[Group]) -> None:
    seen: set[Column] = set()
    for factor in factors:
        leaves = _leaves(factor)
        columns = {c for leaf in leaves for c in leaf.columns}
        if seen & columns or not all(leaf.columns for leaf in leaves):
            raise GroupError(
                "a direct product needs groups on named, separate columns, got "
                f"{', '.join(map(repr, factors))}: use closure(...) for groups that "
                "share columns"
            )
        seen |= columns


def _digits(number: int) -> str:
    return str(number) if number < 10**12 else f"10^{math.log10(number):.0f}"


def _leaves(group: Group) -> tuple[Group, ...]:
    if not group.factors:
        return (group,)
    return tuple(leaf for f in group.factors for leaf in _leaves(f))


def _generators(group: Group, dim: int) -> list[Element]:
    """A few elements of a resolved group whose products are all of it."""
    if group.factors:
        return [e for f in group.factors for e in _generators(f, dim)]
    columns = group.moved()
    if group.kind in ("sign_flips", "reflections"):
        return [reflection(dim, (c,), (True,)) for c in columns]
    if group.kind == "cyclic":
        return [permutation(dim, columns, columns[1:] + columns[:1])]
    # Exchanges of neighbours generate every permutation.
    return [permutation(dim, (a, b), (b, a)) for a, b in itertools.pairwise(columns)]


def _generate(group: Group, dim: int) -> tuple[Element, ...]:
    found = generate(_generators(group, dim), dim, MAX_ORDER)
    if len(found) > MAX_ORDER:
        raise GroupError(
            f"{group!r} generates more than {MAX_ORDER} elements (at least "
            f"{len(found)}): use fewer generators, or cyclic(n) in place of swaps"
        )
    return tuple(found)


def _numbers(group: Group) -> set[int]:
    """The columns, none if any of them is not a number."""
    leaves = _leaves(group)
    columns = {c for leaf in leaves for c in leaf.columns}
    numbers = {c for c in columns if isinstance(c, int)}
    whole = len(numbers) == len(columns) and all(leaf.columns for leaf in leaves)
    return numbers if whole else set()


def _compact(group: Group, labels: Sequence[int]) -> list[Element]:
    """Elements as permutations of the labels; none of a group that is too large."""
    if not _numbers(group) or any(
        leaf.order > MAX_COMPARED_ORDER for leaf in _leaves(group)
    ):
        return []
    place: dict[Column, int] = {label: j for j, label in enumerate(labels)}
    generators = _generators(_relabelled(group, place), len(labels))
    found = generate(generators, len(labels), MAX_COMPARED_ORDER)
    return found if len(found) <= MAX_COMPARED_ORDER else []


def _relabelled(group: Group, place: Mapping[Column, int]) -> Group:
    return replace(
        group,
        columns=tuple(place[c] for c in group.columns),
        factors=tuple(_relabelled(f, place) for f in group.factors),
    )


@lru_cache(maxsize=1024)
def _spelled(group: Group) -> Group | None:
    """The spelling that depends on the elements alone, where these are few."""
    labels = sorted(_numbers(group))
    elements = _compact(group, labels)
    if not elements:
        return None
    flipped = {
        c for leaf in _leaves(group) if leaf.kind == "sign_flips" for c in leaf.columns
    }
    factors: list[Group] = []
    alone: dict[str, list[int]] = {}
    for form, atoms in components(elements):
        cycles = [tuple(labels[j] for j in atom) for atom in atoms]
        block = {c for cycle in cycles for c in cycle}
        flip = "sign_flips" if flipped & block else "reflections"
        if len(block) == 1:
            alone.setdefault(flip, []).extend(block)
        elif form == "permutations" and len(block) > 2:
            factors.append(permutations(len(block), cycles[0]))
        else:
            parts = sorted((_of_atom(c, flip) for c in cycles), key=repr)
            factors.append(parts[0] if len(parts) == 1 else closure(*parts))
    factors.extend(Group(kind, tuple(c), len(c)) for kind, c in alone.items())
    factors.sort(key=repr)
    return factors[0] if len(factors) == 1 else Group("product", factors=tuple(factors))


def _of_atom(atom: Atom, flip: str) -> Group:
    if len(atom) == 1:
        return Group(flip, atom, 1)
    return swap(*atom) if len(atom) == 2 else cyclic(len(atom), atom)
