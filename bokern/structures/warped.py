"""Structures whose inputs are warped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from bokern.kernels import KumaraswamyKernel, StructureKernel
from bokern.structures.base import (
    KernelSpace,
    Layout,
    Place,
    Structure,
    check_part,
    column_tuple,
    ordered,
)
from bokern.structures.classical import _is_closed
from bokern.views.groups import Column, Group


@dataclass(frozen=True, repr=False)
class Kumaraswamy(Structure):
    """A base structure on inputs warped by the Kumaraswamy distribution function.

    Args:
        base: What is believed of the function of the warped inputs.
        columns: Columns to warp; all of them by default.
    """

    base: Structure
    columns: Sequence[Column] = field(default=(), kw_only=True)

    summary: ClassVar[str] = "nonstationary: one end of the box stretched, learned"

    def __post_init__(self) -> None:
        check_part("Kumaraswamy", self.base)
        object.__setattr__(self, "columns", column_tuple(self.columns))

    @property
    def family(self) -> str:
        """Warped over a classical base, else a composition."""
        return _wrap_family("warped", self.base)

    @property
    def is_stationary(self) -> bool:
        """No, whatever the base."""
        return False

    @property
    def children(self) -> tuple[Structure, ...]:
        """The base."""
        return (self.base,)

    def with_children(self, children: Sequence[Structure]) -> Structure:
        """The same warp over another base."""
        return replace(self, base=children[0])

    def canonical(self) -> Structure:
        """Over the canonical base, with the columns in order."""
        base, columns = self.base.canonical(), ordered(self.columns)
        return replace(self, base=base, columns=columns)

    def _own_kinds(self) -> frozenset[str]:
        return self.base._own_kinds() | {"warped"}

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether the base is and tied warps are: not under reflections."""
        tied = not group.reflects and _is_closed(self.columns, group)
        return tied and self.base.is_symmetric_under(group)

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """The base's correlation of the warped columns."""
        base = self.base.correlation(space)
        return KumaraswamyKernel(base, space.columns(self.columns))

    def kernel(self, space: KernelSpace) -> StructureKernel:
        """The base's kernel, outputscales included, of the warped columns."""
        return KumaraswamyKernel(self.base.kernel(space), space.columns(self.columns))

    def layout(self, scaled: bool) -> Layout:
        """Around the base, scaled or not."""
        return Layout(self, places=(Place(self.base, "base_kernel.", scaled),))

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        if not self.base.contains(parent):
            return None
        names, values = self.base.lift(parent)
        identity = {"raw_concentration_a": 0.0, "raw_concentration_b": 0.0}
        lifted = {f"base_kernel.{here}": there for here, there in names.items()}
        return lifted, {f"base_kernel.{k}": v for k, v in values.items()} | identity


def _wrap_family(own: str, base: Structure) -> str:
    """Family of a wrapper: its own over classical bases, else a composition."""
    return own if base.family in ("stationary", "composite", own) else "composition"
