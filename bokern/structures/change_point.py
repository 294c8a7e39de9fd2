"""Functions that change their character at a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from bokern.errors import ColumnError
from bokern.kernels import ChangePointKernel, StructureKernel
from bokern.structures.base import (
    KernelSpace,
    Layout,
    Place,
    Structure,
    check_part,
    column_tuple,
)
from bokern.structures.classical import _is_closed
from bokern.views.groups import Column, Group

FIRST: tuple[Column, ...] = (0,)


@dataclass(frozen=True, repr=False)
class ChangePoint(Structure):
    """One structure before a point of a column, an independent one after it.

    Args:
        before: What is believed at low values of the column.
        after: What is believed at high values.
        columns: The one column along which it changes; the first by default.
    """

    before: Structure
    after: Structure
    columns: Sequence[Column] = field(default=FIRST, kw_only=True)

    summary: ClassVar[str] = "one function before a learned point, another after it"

    def __post_init__(self) -> None:
        check_part("ChangePoint", self.before)
        check_part("ChangePoint", self.after)
        # None, which elsewhere stands for all columns, comes from data of one column.
        columns = column_tuple(self.columns) or FIRST
        if len(columns) > 1:
            raise ColumnError(
                "ChangePoint changes along one column, got columns="
                f"{list(columns)}: name one, or nest change-points"
            )
        object.__setattr__(self, "columns", columns)

    @property
    def family(self) -> str:
        """Composite over classical parts, else a composition."""
        classical = all(p.family in ("stationary", "composite") for p in self.children)
        return "composite" if classical else "composition"

    @property
    def is_stationary(self) -> bool:
        """No, even between equal parts."""
        return False

    @property
    def has_constant_variance(self) -> bool:
        """No: it dips where one part fades into the other."""
        return False

    @property
    def children(self) -> tuple[Structure, ...]:
        """What holds before, and what holds after."""
        return (self.before, self.after)

    def with_children(self, children: Sequence[Structure]) -> Structure:
        """The same change between other structures."""
        before, after = children
        return replace(self, before=before, after=after)

    @property
    def _gates(self) -> tuple[int, ...]:
        return tuple(int(c) for c in self.columns)

    def _own_kinds(self) -> frozenset[str]:
        return super()._own_kinds() | {"composite"}

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether both parts are, and the group leaves the column alone."""
        still = not group.reflects and _is_closed(self.columns, group)
        return still and all(part.is_symmetric_under(group) for part in self.children)

    def kernel(self, space: KernelSpace) -> StructureKernel:
        """Both kernels, each with its outputscale, where they hold."""
        before, after = (part.kernel(space) for part in self.children)
        return ChangePointKernel(before, after, space.columns(self.columns))

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """The same, the first part without an outputscale."""
        before = self.before.correlation(space)
        after = self.after.kernel(space)
        return ChangePointKernel(before, after, space.columns(self.columns))

    def layout(self, scaled: bool) -> Layout:
        """Both parts with their outputscales, or only the second."""
        before = Place(self.before, "kernels.before.", scaled)
        return Layout(self, places=(before, Place(self.after, "kernels.after.", True)))
