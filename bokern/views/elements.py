"""Signed permutations of columns, and what they generate."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

Element = tuple[tuple[int, ...], tuple[bool, ...]]
"""Source column of each column, and whether it is reflected."""


def identity(dim: int) -> Element:
    """The element that moves nothing."""
    return tuple(range(dim)), (False,) * dim


def permutation(dim: int, columns: Sequence[int], images: Sequence[int]) -> Element:
    """The element that reads each column from its image."""
    index = list(range(dim))
    for column, image in zip(columns, images, strict=True):
        index[column] = image
    return tuple(index), (False,) * dim


def reflection(dim: int, columns: Sequence[int], chosen: Sequence[bool]) -> Element:
    """The element that reflects the chosen ones of the columns."""
    flips = [False] * dim
    for column, flip in zip(columns, chosen, strict=True):
        flips[column] = flip
    return tuple(range(dim)), tuple(flips)


def compose(g: Element, h: Element) -> Element:
    """The element that applies ``h`` first and ``g`` to its result."""
    (gi, gf), (hi, hf) = g, h
    index = tuple(hi[j] for j in gi)
    flips = tuple(gf[k] ^ hf[j] for k, j in enumerate(gi))
    return index, flips


def inverse(g: Element) -> Element:
    """The element that undoes another."""
    index, flips = g
    back = sorted(range(len(index)), key=index.__getitem__)
    return tuple(back), tuple(flips[j] for j in back)


def generate(generators: Sequence[Element], dim: int, limit: int) -> list[Element]:
    """All products of the generators, the identity first.

    Returns:
        The whole group if it has ``limit`` elements or fewer; else more than
        ``limit`` of its elements.
    """
    found = {identity(dim): None}
    frontier = list(found)
    while frontier and len(found) <= limit:
        fresh: dict[Element, None] = {}
        for element, generator in itertools.product(frontier, generators):
            fresh.setdefault(compose(generator, element), None)
        frontier = [e for e in fresh if e not in found]
        found.update(dict.fromkeys(frontier))
    return list(found)
