"""Views of a point; those of an orbit are one gather, one product and one sum."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from bokern.views.groups import Group


class Views(nn.Module):
    """Maps each point to ``order`` points.

    A plain module, in which index tensors live rather than in a kernel: GPyTorch
    indexes a kernel's own buffers when it takes a batch element.
    """

    @property
    @abstractmethod
    def order(self) -> int:
        """Number of views of a point, P."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Maps ``... x n x d`` points to ``... x P x n x d`` views."""


class Identity(Views):
    """Each point is its only view."""

    @property
    def order(self) -> int:
        """One."""
        return 1

    def forward(self, x: Tensor) -> Tensor:
        """Maps ``... x n x d`` points to ``... x 1 x n x d``."""
        return x.unsqueeze(-3)


class Orbit(Views):
    """Images of points of the unit cube under every element of a group.

    Args:
        group: A resolved group.
        dim: Number of columns of the points.
    """

    index: Tensor
    sign: Tensor
    offset: Tensor

    def __init__(self, group: Group, dim: int) -> None:
        super().__init__()
        elements = group.elements(dim)
        flips = torch.tensor([flip for _, flip in elements])
        sign = 1.0 - 2.0 * flips.to(torch.float64)
        index = torch.tensor([image for image, _ in elements])
        self.register_buffer("index", index, persistent=False)
        self.register_buffer("sign", sign, persistent=False)
        self.register_buffer("offset", (1.0 - sign) / 2.0, persistent=False)

    @property
    def order(self) -> int:
        """Number of elements of the group, P."""
        return self.index.shape[0]

    def forward(self, x: Tensor) -> Tensor:
        """Maps ``... x n x d`` points to ``... x P x n x d`` images."""
        images = x[..., self.index].movedim(-2, -3)
        return images * self.sign.to(x).unsqueeze(1) + self.offset.to(x).unsqueeze(1)
