"""Where the parts of a structure stand in its kernel."""

from __future__ import annotations

from dataclasses import dataclass

from bokern.structures.base import Structure


@dataclass(frozen=True)
class Node:
    """A part of a structure, with the whole names of its hyperparameters.

    Args:
        structure: The part.
        path: Where its own hyperparameters lie.
        scale: Its own outputscale.
        scales: The outputscales that together multiply all of it; none if its
            variance is fixed.
        parts: Its parts.
    """

    structure: Structure
    path: str
    scale: str | None
    scales: tuple[str, ...]
    parts: tuple[Node, ...]


def places(structure: Structure, path: str = "", scaled: bool = True) -> Node:
    """The tree of a structure's kernel.

    Args:
        structure: A resolved structure.
        path: Where its kernel stands.
        scaled: Whether with an outputscale.
    """
    layout = structure.layout(scaled)
    parts = tuple(places(p.part, path + p.path, p.scaled) for p in layout.places)
    scale = None if layout.scale is None else path + layout.scale
    scales: tuple[str, ...] = () if scale is None else (scale,)
    if scaled and scale is None:
        scales = tuple(name for part in parts for name in part.scales)
    return Node(layout.node, path + layout.path, scale, scales, parts)
