"""Which groups to try on blocks of columns that may be interchanged."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from bokern.views.groups import Group, cyclic, permutations, product, swap

Block = tuple[int, ...]


def whole_groups(block: Block) -> Iterator[Group]:
    """The full symmetric group of a block, and its cyclic shifts."""
    yield permutations(len(block), block).canonical()
    if len(block) > 2:
        yield cyclic(len(block), block).canonical()


def part_groups(block: Block) -> Iterator[Group]:
    """All columns but one interchangeable, and single swaps."""
    if len(block) > 3:
        for rest in itertools.combinations(block, len(block) - 1):
            yield permutations(len(rest), rest).canonical()
    if len(block) > 2:
        for a, b in itertools.combinations(block, 2):
            yield swap(a, b).canonical()


def narrower(group: Group) -> Iterator[Group]:
    """Subgroups next below a group that is made of the above."""
    if group.kind == "permutations":
        columns = group.moved()
        yield from itertools.islice(whole_groups(columns), 1, None)
        smaller = itertools.combinations(columns, len(columns) - 1)
        for rest in smaller if len(columns) > 2 else ():
            yield permutations(len(rest), rest).canonical()
    elif group.kind == "product":
        for i, factor in enumerate(group.factors):
            others = (*group.factors[:i], *group.factors[i + 1 :])
            yield product(*others).canonical()
            for smaller_factor in narrower(factor):
                yield product(smaller_factor, *others).canonical()


def wider(group: Group, blocks: Sequence[Block]) -> Iterator[Group]:
    """Groups next above a group that is made of the above."""
    moved = set(group.moved())
    factors = group.factors if group.kind == "product" else (group,)
    for i, factor in enumerate(factors):
        others = (*factors[:i], *factors[i + 1 :])
        for larger in _grown(factor, moved, blocks):
            yield product(larger, *others).canonical()
    for block in blocks:
        rest = tuple(c for c in block if c not in moved)
        if len(rest) > 1:
            for beside in whole_groups(rest):
                yield product(group, beside).canonical()


def _grown(factor: Group, moved: set[int], blocks: Sequence[Block]) -> Iterator[Group]:
    columns = factor.moved()
    if factor.kind == "cyclic":
        yield permutations(len(columns), columns)
    if factor.kind not in ("swap", "permutations"):
        return
    for block in blocks:
        for c in block if set(columns) <= set(block) else ():
            if c not in moved:
                yield permutations(len(columns) + 1, (*columns, c))
