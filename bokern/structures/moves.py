"""Ways to make a structure of another, as in compositional kernel search.

References:
    [CKS] section 3 and [ABCD] section 2.2, the base grammar; groups, warps and their
    relaxations are ours
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bokern.structures.base import Structure
from bokern.structures.change_point import ChangePoint
from bokern.structures.classical import (
    RBF,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
    _Leaf,
)
from bokern.structures.composite import Product, Sum
from bokern.structures.conditional_deep import ConditionalDeep
from bokern.structures.deep import DeepSE
from bokern.structures.invariant import Invariant
from bokern.structures.symmetries import (
    Block,
    narrower,
    part_groups,
    whole_groups,
    wider,
)
from bokern.structures.warped import Kumaraswamy
from bokern.views.groups import Group

Subject = Structure | Group | int
"""What a move speaks of: a structure, a group, or a column by number."""


@dataclass(frozen=True)
class Move:
    """A structure made of another, and how.

    Args:
        structure: The new one, not yet canonical.
        words: What was done, with a pair of brackets for each subject.
        subjects: What it was done with.
    """

    structure: Structure
    words: str
    subjects: tuple[Subject, ...] = ()


LEAVES: tuple[Structure, ...] = (
    RBF(),
    RationalQuadratic(),
    Matern(2.5),
    Matern(1.5),
    Matern(0.5),
    Periodic(),
    Linear(),
)
"""What takes the place of a leaf."""

INVARIANT = "make invariant under {}"

CHANGE_COLUMNS = 2
"""Change-points are tried on data of so few columns."""


@dataclass(frozen=True)
class Spot:
    """A part of a structure, and what it becomes with another in its place."""

    node: Structure
    above: Structure | None
    put: Callable[[Structure], Structure]

    @property
    def is_term(self) -> bool:
        """Whether it stands by itself or in a sum, rather than in a product."""
        return not isinstance(self.above, Product)

    @property
    def is_whole(self) -> bool:
        """Whether it is all there is: at the top, or within a wrapper."""
        return not isinstance(self.above, Product | Sum)


def spots(structure: Structure) -> Iterator[Spot]:
    """All parts, the whole first; a hidden layer counts as one part."""

    def below(node: Structure, above: Structure | None, put: Any) -> Iterator[Spot]:
        yield Spot(node, above, put)
        parts = () if isinstance(node, ConditionalDeep) else node.children
        for i, part in enumerate(parts):

            def put_part(new: Structure, i: int = i) -> Structure:
                return put(node.with_children([*parts[:i], new, *parts[i + 1 :]]))

            yield from below(part, node, put_part)

    yield from below(structure, None, lambda new: new)


def additions(structure: Structure, bases: Sequence[Structure]) -> Iterator[Move]:
    """One more independent function, of the whole first."""
    for spot in spots(structure):
        if spot.is_whole:
            there = () if spot.above is None else (spot.node,)
            words = "add {} to {}" if there else "add {}"
            for base in bases:
                yield Move(spot.put(spot.node + base), words, (base, *there))


def multiplications(structure: Structure, bases: Sequence[Structure]) -> Iterator[Move]:
    """One more factor of a term."""
    for spot in spots(structure):
        if spot.is_term and isinstance(
            spot.node, Product | _Leaf | DeepSE | ConditionalDeep
        ):
            for base in bases:
                new = spot.put(spot.node * base)
                yield Move(new, "multiply {} by {}", (spot.node, base))


def replacements(structure: Structure, bases: Sequence[Structure]) -> Iterator[Move]:
    """Another kernel of the same columns."""
    for spot in spots(structure):
        if isinstance(spot.node, _Leaf | DeepSE):
            for base in bases:
                new = replace(base, columns=spot.node.columns)  # type: ignore[call-arg]
                yield Move(spot.put(new), "replace {} by {}", (spot.node, new))


def extensions(structure: Structure, dim: int) -> Iterator[Move]:
    """A function of some columns made one of another column as well."""
    for spot in spots(structure):
        node = spot.node
        if isinstance(node, RBF | Matern | RationalQuadratic) and node.columns:
            for c in range(dim):
                if c not in node.columns:
                    new = replace(node, columns=(*node.columns, c))
                    words = "let {} depend on column {} as well"
                    yield Move(spot.put(new), words, (node, c))


def changes(structure: Structure, dim: int) -> Iterator[Move]:
    """Another function of the same kind from some point on."""
    if dim > CHANGE_COLUMNS:
        return
    for spot in spots(structure):
        if spot.is_term and not isinstance(spot.node, ChangePoint):
            for c in range(dim):
                new = ChangePoint(spot.node, spot.node, columns=[c])
                where = () if dim == 1 else (c,)
                words = "let {} change at a point" + " of column {}" * len(where)
                yield Move(spot.put(new), words, (spot.node, *where))


def warps(structure: Structure) -> Iterator[Move]:
    """The input of the whole stretched; before any average over a group."""
    averaged = any(True for _ in structure.groups())
    for spot in spots(structure):
        if isinstance(spot.above, Invariant):
            warped = spot.put(Kumaraswamy(spot.node))
            yield Move(warped, "warp the input of {}", (spot.above,))
        elif spot.above is None and not averaged:
            yield Move(Kumaraswamy(spot.node), "warp the input")


def bends(structure: Structure, dim: int, of_leaves: bool) -> Iterator[Move]:
    """The input of a part bent by hidden functions that are learned at some places.

    Args:
        structure: The whole.
        dim: Number of columns.
        of_leaves: Whether that of a plain kernel is, or a deep one's only.
    """
    for spot in spots(structure):
        node = spot.node
        if isinstance(node, DeepSE) and node.width == 1:
            new = bent(RBF(columns=node.columns), dim)
        elif of_leaves and isinstance(node, RBF):
            new = bent(node, dim)
        else:
            continue
        yield Move(spot.put(new), "bend the input of {}", (node,))


def bent(base: RBF, dim: int) -> ConditionalDeep:
    """A squared exponential of a bent input, with four places a column and one."""
    return ConditionalDeep(base, hyperdata=4 * (len(base.columns) or dim) + 1)


def partial_warps(structure: Structure, dim: int) -> Iterator[Move]:
    """The input of one term stretched, or one column of the whole."""
    for spot in spots(structure):
        varies = not isinstance(spot.node, Linear | Invariant)
        if isinstance(spot.above, Sum) and varies:
            warped = spot.put(Kumaraswamy(spot.node))
            yield Move(warped, "warp the input of {}", (spot.node,))
    if not any(True for _ in structure.groups()):
        for c in range(dim if dim > 1 else 0):
            yield Move(Kumaraswamy(structure, columns=[c]), "warp column {}", (c,))


def symmetries(structure: Structure, blocks: Sequence[Block]) -> Iterator[Move]:
    """The whole averaged over the largest groups."""
    if any(True for _ in structure.groups()):
        return
    for block in blocks:
        for group in whole_groups(block):
            yield Move(Invariant(structure, group), INVARIANT, (group,))


def smaller_symmetries(structure: Structure, blocks: Sequence[Block]) -> Iterator[Move]:
    """The same over smaller groups, or another group in place of one that is there."""
    if not any(True for _ in structure.groups()):
        for block in blocks:
            for group in part_groups(block):
                yield Move(Invariant(structure, group), INVARIANT, (group,))
    for spot in spots(structure):
        if isinstance(spot.node, Invariant):
            group, base = spot.node.group, spot.node.base
            for new in wider(group, blocks):
                averaged = spot.put(Invariant(base, new))
                yield Move(averaged, "extend {} to {}", (group, new))
            for new in narrower(group):
                averaged = spot.put(Invariant(base, new))
                yield Move(averaged, "weaken {} to {}", (group, new))


def relaxations(structure: Structure) -> Iterator[Move]:
    """An average beside what is averaged: mostly invariant."""
    for spot in spots(structure):
        node = spot.node
        if isinstance(node, Invariant) and spot.is_term:
            beside = spot.above.children if isinstance(spot.above, Sum) else ()
            if node.base not in beside:
                both = spot.put(node + node.base)
                yield Move(both, "allow for asymmetry in {}", (node,))


def removals(structure: Structure) -> Iterator[Move]:
    """Less: a term, a factor, a wrapper, or what holds on one side of a change."""
    for spot in spots(structure):
        node = spot.node
        match node:
            case Sum() | Product():
                for i, part in enumerate(node.parts):
                    rest = (*node.parts[:i], *node.parts[i + 1 :])
                    left = rest[0] if len(rest) == 1 else type(node)(rest)
                    yield Move(spot.put(left), "remove {}", (part,))
            case Kumaraswamy():
                yield Move(spot.put(node.base), "remove the warp of {}", (node.base,))
            case Invariant():
                words = "drop the invariance under {}"
                yield Move(spot.put(node.base), words, (node.group,))
            case ConditionalDeep() if node.plain is not None:
                plain = node.plain
                yield Move(spot.put(plain), "straighten the input of {}", (plain,))
            case ChangePoint():
                first, last = spot.put(node.before), spot.put(node.after)
                yield Move(first, "remove the change to {}", (node.after,))
                yield Move(last, "remove the change from {}", (node.before,))
