"""Views of a point; those of an orbit are one gather, one product and one sum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bokern.views.elements import Element, inverse
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
    one_way: Tensor
    one_way_weights: Tensor

    def __init__(self, group: Group, dim: int) -> None:
        super().__init__()
        elements = group.elements(dim)
        flips = torch.tensor([flip for _, flip in elements])
        sign = 1.0 - 2.0 * flips.to(torch.float64)
        index = torch.tensor([image for image, _ in elements])
        self.register_buffer("index", index, persistent=False)
        self.register_buffer("sign", sign, persistent=False)
        self.register_buffer("offset", (1.0 - sign) / 2.0, persistent=False)
        half, weights = _one_of_each_pair(elements)
        self.register_buffer("one_way", torch.tensor(half), persistent=False)
        self.register_buffer(
            "one_way_weights",
            torch.tensor(weights, dtype=torch.float64) / len(elements),
            persistent=False,
        )

    @property
    def order(self) -> int:
        """Number of elements of the group, P."""
        return self.index.shape[0]

    def forward(self, x: Tensor) -> Tensor:
        """Maps ``... x n x d`` points to ``... x P x n x d`` images."""
        return self._images(x, self.index, self.sign, self.offset)

    def one_way_images(self, x: Tensor) -> Tensor:
        """Images under one of each element and its inverse, ``... x P' x n x d``.

        Weighted by ``one_way_weights`` they give means over all pairs of points: what g
        does to a pair one way round, its inverse does the other way round.
        """
        chosen = self.one_way
        return self._images(
            x, self.index[chosen], self.sign[chosen], self.offset[chosen]
        )

    @staticmethod
    def _images(x: Tensor, index: Tensor, sign: Tensor, offset: Tensor) -> Tensor:
        images = x[..., index].movedim(-2, -3)
        return images * sign.to(x).unsqueeze(1) + offset.to(x).unsqueeze(1)


def _one_of_each_pair(elements: Sequence[Element]) -> tuple[list[int], list[float]]:
    """Numbers of elements none of which is another's inverse, and how many each is."""
    number = {element: i for i, element in enumerate(elements)}
    half, weights = [], []
    for i, element in enumerate(elements):
        j = number[inverse(element)]
        if i <= j:
            half.append(i)
            weights.append(1.0 if i == j else 2.0)
    return half, weights
