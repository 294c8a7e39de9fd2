"""Deep Gaussian processes as structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from bokern.errors import StructureError
from bokern.kernels import StructureKernel, ZeroMeanDeepKernel
from bokern.structures.base import KernelSpace, Structure, column_tuple, ordered
from bokern.structures.classical import _is_closed
from bokern.views.groups import Column, Group

MAX_WIDTH = 1000
"""Beyond this the kernel is at its limit of infinite width."""


@dataclass(frozen=True, repr=False)
class DeepSE(Structure):
    """A squared exponential of ``width`` hidden zero-mean squared-exponential GPs.

    Stationary: heavy-tailed correlations over many lengthscales, never a warp.
    """

    width: int = 1
    columns: Sequence[Column] = field(default=(), kw_only=True)

    summary: ClassVar[str] = "two-layer deep GP by its moments; stationary, heavy tails"

    def __post_init__(self) -> None:
        whole = isinstance(self.width, int) and not isinstance(self.width, bool)
        if not whole or not 1 <= self.width <= MAX_WIDTH:
            raise StructureError(
                f"DeepSE expects a whole number 1 <= width <= {MAX_WIDTH}, got "
                f"{self.width!r:.60}"
            )
        object.__setattr__(self, "columns", column_tuple(self.columns))

    @property
    def family(self) -> str:
        """Deep."""
        return "deep"

    def _own_kinds(self) -> frozenset[str]:
        return frozenset({"deep"})

    def canonical(self) -> Structure:
        """With the columns in order."""
        return replace(self, columns=ordered(self.columns))

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether the group maps the columns read among themselves."""
        return _is_closed(self.columns, group)

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Zero-mean deep kernel of the columns."""
        columns = space.columns(self.columns)
        return ZeroMeanDeepKernel(columns, self.width, space.batch_shape)
