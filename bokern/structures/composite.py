"""Sums and products of structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bokern.errors import StructureError
from bokern.kernels import ProductKernel, StructureKernel, SumKernel
from bokern.structures.base import KernelSpace, Layout, Place, Structure, check_part
from bokern.structures.classical import RBF
from bokern.views.groups import Group

ABSENT = -10.0
"""Log variance of a component that is as good as absent."""


@dataclass(frozen=True, repr=False)
class _Composite(Structure):
    parts: tuple[Structure, ...]

    absorbed: ClassVar[tuple[type[Structure], ...]] = ()
    """Leaves of which two equal ones are as good as one."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not isinstance(self.parts, tuple | list) or len(self.parts) < 2:
            raise StructureError(
                f"{name} expects at least two structures, got {self.parts!r:.60}"
            )
        object.__setattr__(self, "parts", tuple(self.parts))
        for part in self.parts:
            check_part(name, part)

    @property
    def children(self) -> tuple[Structure, ...]:
        """The parts."""
        return self.parts

    def with_children(self, children: Sequence[Structure]) -> Structure:
        """The same of other parts."""
        return type(self)(tuple(children))

    def canonical(self) -> Structure:
        """Flattened, with equal redundant leaves merged, sorted by text."""
        flat: list[Structure] = []
        for part in (p.canonical() for p in self.parts):
            flat.extend(part.children if isinstance(part, type(self)) else (part,))
        kept: list[Structure] = []
        for part in sorted(flat, key=str):
            if not (isinstance(part, self.absorbed) and part in kept):
                kept.append(part)
        return kept[0] if len(kept) == 1 else type(self)(tuple(kept))

    @property
    def family(self) -> str:
        """Composite if all parts are classical."""
        classical = all(p.family in ("stationary", "composite") for p in self.parts)
        return "composite" if classical else "composition"

    def _own_kinds(self) -> frozenset[str]:
        return super()._own_kinds() | {"composite"}

    @property
    def symmetries(self) -> frozenset[Group]:
        """Groups under which every part is known to be invariant.

        Each is the group of some part, and a subgroup of one of every other; what
        two groups share without one holding the other is not looked for.
        """
        known = [part.symmetries for part in self.parts]
        return frozenset(
            group
            for group in frozenset().union(*known)
            if all(any(h.contains(group) for h in groups) for groups in known)
        )

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether all parts are."""
        return all(part.is_symmetric_under(group) for part in self.parts)


@dataclass(frozen=True, repr=False)
class Sum(_Composite):
    """A sum of independent functions, each with its outputscale."""

    summary: ClassVar[str] = "independent functions added, each with its variance"

    def __str__(self) -> str:
        return " + ".join(map(str, self.parts))

    def kernel(self, space: KernelSpace) -> StructureKernel:
        """The parts' kernels added, each with its outputscale."""
        return SumKernel([part.kernel(space) for part in self.parts])

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """The parts' kernels added, the first without an outputscale.

        Beside an overall outputscale, one of every part would be redundant.
        """
        first, *others = self.parts
        kernels = [first.correlation(space), *(part.kernel(space) for part in others)]
        return SumKernel(kernels)

    def layout(self, scaled: bool) -> Layout:
        """Every part with its outputscale, or all but the first."""
        places = (
            Place(part, f"kernels.{i}.", scaled or i > 0)
            for i, part in enumerate(self.parts)
        )
        return Layout(self, places=tuple(places))

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        wanted = parent.parts if isinstance(parent, Sum) else (parent,)
        free = list(range(len(self.parts)))
        names: dict[str, str] = {}
        for number, part in enumerate(wanted):
            slot = next((i for i in free if self.parts[i] == part), None)
            if slot is None:
                return None
            free.remove(slot)
            there = f"kernels.{number}." if isinstance(parent, Sum) else ""
            names[f"kernels.{slot}."] = there
        if not free:
            return None
        return names, {f"kernels.{i}.*raw_outputscale": ABSENT for i in free}


@dataclass(frozen=True, repr=False)
class Product(_Composite):
    """Kernels multiplied, with one outputscale."""

    summary: ClassVar[str] = "kernels multiplied: one modulates the other"
    absorbed: ClassVar[tuple[type[Structure], ...]] = (RBF,)

    def __str__(self) -> str:
        texts = [f"({p})" if isinstance(p, Sum) else str(p) for p in self.parts]
        return " * ".join(texts)

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """The parts' kernels multiplied, none with an outputscale of its own."""
        return ProductKernel([part.correlation(space) for part in self.parts])

    def _correlation_layout(self) -> Layout:
        places = (
            Place(part, f"kernels.{i}.", False) for i, part in enumerate(self.parts)
        )
        return Layout(self, places=tuple(places))
