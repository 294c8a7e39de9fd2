"""Which structures a search begins with, and what it makes of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from bokern.errors import BoundsError, StructureError
from bokern.structures import moves
from bokern.structures.base import Structure
from bokern.structures.classical import (
    RBF,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
)
from bokern.structures.deep import DeepSE
from bokern.structures.invariant import Invariant
from bokern.structures.sense import count_nodes, evaluations, is_sensible
from bokern.structures.symmetries import whole_groups
from bokern.structures.warped import Kumaraswamy

MAX_ORDER = 720
"""Six interchangeable columns, averaged over in full."""

SMALL_ORDER = 24
"""The same within an optimisation run, where a search has seconds."""

MAX_ENTRIES = 2**23
"""Kernel evaluations for one likelihood: .3 s and .6 GB with its gradient."""

ADDITIVE_COLUMNS = 8
"""Up to so many columns, functions of one column each are offered."""

BENT_COLUMNS, BENT_ABOVE = 2, 20
"""Inputs are bent freely on so few columns, given more observations than this.
Elsewhere the numbers at each place overfit, and only a deep structure that leads is
bent."""

SIZES = ("full", "small")


@dataclass(frozen=True)
class Proposal:
    """A structure made of another.

    Args:
        structure: The new one, resolved and canonical.
        parent: What it was made of.
        move: How, in words.
    """

    structure: Structure
    parent: Structure
    move: str


@dataclass(frozen=True)
class Grammar:
    """What "auto" stands for on columns of one declared box.

    Args:
        dim: Number of columns.
        blocks: Columns that may be interchanged, by number.
        max_nodes: Size of the largest structure proposed.
        max_order: Evaluations of the base for a pair of points in the dearest average
            over a group.
        names: What moves call the columns; none for their numbers. Structures have
            numbers.
        bends: Whether any input may be bent, rather than that of a deep structure.
    """

    dim: int
    blocks: tuple[tuple[int, ...], ...] = ()
    max_nodes: int = 10
    max_order: int = MAX_ORDER
    names: tuple[str, ...] = ()
    bends: bool = False

    @classmethod
    def of(
        cls,
        bounds: Any,
        *,
        names: Sequence[str] = (),
        kinds: Sequence[Hashable] | None = None,
        n: int | None = None,
        max_nodes: int = 10,
    ) -> Grammar:
        """The grammar of a declared box.

        Args:
            bounds: ``2 x d``, lower and upper, in raw units: in the unit cube all
                columns would look alike.
            names: What moves call the columns; none for their numbers.
            kinds: What else columns must have in common to be interchangeable, such
                as their type and scale; one a column.
            n: Number of observations, which bounds the order of groups, and below
                which inputs are not bent.
            max_nodes: Size of the largest structure proposed.

        Raises:
            BoundsError: If the bounds have another shape or one label is missing.
        """
        low, high = _rows(bounds)
        labels = list(kinds) if kinds is not None else [None] * len(low)
        if len(labels) != len(low):
            raise BoundsError(
                f"kinds= expects one label for each of {len(low)} columns, got "
                f"{len(labels)}"
            )
        blocks: list[list[int]] = []
        for c in range(len(low)):
            alike = (
                block
                for block in blocks
                if labels[block[0]] == labels[c]
                and abs(low[c] - low[block[0]]) + abs(high[c] - high[block[0]])
                <= 1e-9 * (high[block[0]] - low[block[0]])
            )
            found = next(alike, None)
            if found is None:
                blocks.append([c])
            else:
                found.append(c)
        several = tuple(tuple(block) for block in blocks if len(block) > 1)
        order = MAX_ORDER if n is None else min(MAX_ORDER, MAX_ENTRIES // max(1, n * n))
        bends = len(low) <= BENT_COLUMNS and (n is None or n > BENT_ABOVE)
        return cls(len(low), several, max_nodes, order, tuple(names), bends)

    def initial(self, size: str = "full") -> tuple[Structure, ...]:
        """What a search begins with, the plain baseline first.

        Args:
            size: ``"full"``, or ``"small"`` for a search of seconds.

        Raises:
            StructureError: If there is no such size.
        """
        if size not in SIZES:
            raise StructureError(f"size is 'full' or 'small', got {size!r}")
        full = size == "full"
        smooth: list[Structure] = [Matern(2.5), RBF()]
        special: list[Structure] = [Kumaraswamy(Matern(2.5)), DeepSE()]
        if self.bends:
            special.append(moves.bent(RBF(), self.dim))
        if full:
            smooth += [Matern(1.5), RationalQuadratic()]
            smooth += self._univariate() if self.dim == 1 else [Linear() + Matern(2.5)]
        if 1 < self.dim <= ADDITIVE_COLUMNS:
            columns = [Matern(2.5, columns=[c]) for c in range(self.dim)]
            special.append(reduce(add, columns))
        order = self.max_order if full else min(SMALL_ORDER, self.max_order)
        special += [
            Invariant(Matern(2.5), group)
            for block in self.blocks
            for group in whole_groups(block)
            if group.order <= order
        ]
        return tuple(dict.fromkeys(self._resolved(s) for s in smooth + special))

    def _univariate(self) -> list[Structure]:
        """A trend, a period, and each with the other and with smooth functions."""
        trend, period = Linear(), Periodic()
        found = [Matern(0.5), trend, period, trend + period, trend * period]
        for base in (RBF(), Matern(1.5)):
            found += [base + trend, base + period, base * period, base * trend]
        return found

    def expand(self, structure: Structure) -> tuple[Proposal, ...]:
        """What one step makes of a structure, the most promising first.

        Each proposal is resolved, canonical and another than the structure; no two
        are equal.

        Args:
            structure: Columns by number.

        Raises:
            ColumnError: If it names a column that does not exist.
        """
        parent = self._resolved(structure)
        proposals: dict[Structure, Proposal] = {}
        for move in self._growth(parent):
            new = self._resolved(move.structure)
            if new != parent and new not in proposals and self._admits(new):
                proposals[new] = Proposal(new, parent, self._words(move))
        for move in moves.removals(parent):
            new = self._resolved(move.structure)
            if new != parent and is_sensible(new, self.dim):
                proposals.setdefault(new, Proposal(new, parent, self._words(move)))
        return tuple(proposals.values())

    def _growth(self, parent: Structure) -> Iterator[moves.Move]:
        one = self.dim == 1
        trend, local = Linear(), (RBF(), RationalQuadratic())
        whole: tuple[Structure, ...] = (trend, *local, Matern(2.5))
        if one:
            whole = (trend, Periodic(), *local, Matern(1.5))
        columns = range(self.dim if 1 < self.dim <= ADDITIVE_COLUMNS else 0)
        single = [
            kind(columns=[c]) for kind in (RBF, Periodic, Linear) for c in columns
        ]
        yield from moves.relaxations(parent)
        yield from moves.symmetries(parent, self.blocks)
        yield from moves.additions(parent, whole)
        yield from moves.multiplications(parent, whole if one else (trend,))
        yield from moves.warps(parent)
        yield from moves.bends(parent, self.dim, self.bends)
        yield from moves.replacements(parent, moves.LEAVES)
        yield from moves.changes(parent, self.dim)
        yield from moves.smaller_symmetries(parent, self.blocks)
        yield from moves.partial_warps(parent, len(columns))
        if not any(True for _ in parent.groups()):
            yield from moves.additions(parent, single)
            yield from moves.extensions(parent, self.dim)
            yield from moves.multiplications(parent, single)

    def _words(self, move: moves.Move) -> str:
        return move.words.format(*(self._shown(subject) for subject in move.subjects))

    def _shown(self, subject: moves.Subject) -> str:
        if not self.names:
            return str(subject)
        if isinstance(subject, int):
            return self.names[subject]
        return str(subject.named(self.names))

    def _admits(self, structure: Structure) -> bool:
        return (
            count_nodes(structure) <= self.max_nodes
            and is_sensible(structure, self.dim)
            and evaluations(structure) <= self.max_order
        )

    def _resolved(self, structure: Structure) -> Structure:
        return structure.resolve([f"x{c}" for c in range(self.dim)])


def _rows(bounds: Any) -> tuple[list[float], list[float]]:
    """Lower and upper bounds of ``2 x d`` numbers."""
    try:
        low, high = ([float(v) for v in row] for row in bounds)
    except (TypeError, ValueError) as error:
        raise BoundsError(
            "bounds are expected as 2 x d numbers, a row of lower and one of upper "
            f"bounds, got {bounds!r:.80}"
        ) from error
    if len(low) != len(high) or not low:
        raise BoundsError(
            f"bounds are expected as 2 x d numbers, got {len(low)} lower and "
            f"{len(high)} upper ones"
        )
    return low, high
