r"""A change-point taken apart: one function that fades out, one that fades in.

A kernel $\bar s \bar s' k_{before} + s s' k_{after}$ is that of the sum of two
independent functions, $\bar s f_{before}$ and $s f_{after}$.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import torch
from torch import Tensor, nn

from bokern.errors import StructureError
from bokern.kernels import ChangePointKernel, StructureKernel
from bokern.structures import KernelSpace, Structure
from bokern.views.groups import Column, Group


@dataclass(frozen=True, repr=False)
class _Side(Structure):
    """One side of a change; a text to read, not a prior to fit.

    Args:
        base: What is believed of the function there.
        columns: The one column along which it changes.
        after: Whether it is the side at high values.
    """

    base: Structure
    columns: Sequence[Column] = field(kw_only=True)
    after: bool = field(kw_only=True)

    @property
    def family(self) -> str:
        """That of the base."""
        return self.base.family

    @property
    def children(self) -> tuple[Structure, ...]:
        """The base."""
        return (self.base,)

    @property
    def _gates(self) -> tuple[int, ...]:
        return tuple(int(c) for c in self.columns)

    def with_children(self, children: Sequence[Structure]) -> Structure:
        """The same side of another base."""
        return replace(self, base=children[0])

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """None: it depends on where the change was found.

        Raises:
            StructureError: Always.
        """
        raise StructureError(f"{self} is a part of a fitted prior, and no prior itself")

    def is_symmetric_under(self, group: Group) -> bool:
        """Not known."""
        return False

    def __str__(self) -> str:
        return f"{'After' if self.after else 'Before'}({self.base})"


class SideKernel(nn.Module):
    """Covariances of one side of a fitted change.

    Not one of our kernels, which have hyperparameters and priors: it holds what was
    fitted.

    Args:
        base: Kernel of the function on that side.
        change: The change that it is a side of.
        after: Whether it is the side at high values.
    """

    location: Tensor
    width: Tensor

    def __init__(
        self, base: StructureKernel, change: ChangePointKernel, after: bool
    ) -> None:
        super().__init__()
        self.base_kernel = base
        self.columns = change.columns
        self.register_buffer("location", change.location.detach().clone())
        self.register_buffer("width", change.width.detach().clone())
        self.after = after
        self.batch_shape = change.batch_shape

    def weight(self, x: Tensor) -> Tensor:
        """How far the side holds, ``... x n``, at points ``... x n x d``: 0 to 1."""
        past = (self.columns.select(x).squeeze(-1) - self.location) / self.width
        return torch.sigmoid(past if self.after else -past)

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False) -> Tensor:
        """The base's covariances where the side holds."""
        base = self.base_kernel.forward(x1, x2, diag=diag)
        w1, w2 = self.weight(x1), self.weight(x2)
        if diag:
            return base * w1 * w2
        return base * w1.unsqueeze(-1) * w2.unsqueeze(-2)


def one_side(
    structure: Structure,
    kernel: StructureKernel,
    change: ChangePointKernel,
    columns: Sequence[Column],
    after: bool,
) -> tuple[Structure, StructureKernel]:
    """A term of one side of a change, as a term of the whole.

    Args:
        structure: What is believed on that side.
        kernel: Its kernel.
        change: The change.
        columns: The one column along which it changes.
        after: Whether the side is the one at high values.
    """
    side = SideKernel(kernel, change, after)
    # Wrappers and products call nothing but its forward and read its batch shape.
    return _Side(structure, columns=columns, after=after), cast(StructureKernel, side)
