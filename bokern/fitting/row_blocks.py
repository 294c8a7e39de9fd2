"""Covariances of many rows, a block at a time, so that memory does not go by n²."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

BLOCK_ENTRIES = {"cpu": 2**21, "cuda": 2**24}
"""Covariances at a time. A deep kernel's gradient keeps 40
numbers for each: .7 GB. Smaller blocks take longer, as each is computed twice."""

Covariance = Callable[[Tensor, Tensor], Tensor]
"""``... x m x n`` of inputs ``... x m x d`` and ``... x n x d``."""


class RowBlocks:
    """The upper triangle of a symmetric matrix in blocks of rows.

    Args:
        X: ``... x n x d``.
        each: Covariances kept for one pair of rows, of all θ of a batch together.
    """

    def __init__(self, X: Tensor, each: int) -> None:
        self.X = X
        self.size = X.shape[-2]
        most = BLOCK_ENTRIES.get(X.device.type, BLOCK_ENTRIES["cuda"])
        entries = max(1, self.size * each)
        self.rows = min(self.size, max(1, most // entries))

    @property
    def is_one(self) -> bool:
        """Whether a single block holds the matrix."""
        return self.rows == self.size

    def covariance(self, kernel: Covariance, shape: torch.Size) -> Tensor:
        """The matrix, ``shape x n x n``; without a graph if in several blocks."""
        if self.is_one:
            return kernel(self.X, self.X).expand(*shape, self.size, self.size)
        with torch.no_grad():
            K = self.X.new_empty(*shape, self.size, self.size)
            for start, stop in self._bounds():
                block = kernel(self.X[..., start:stop, :], self.X[..., start:, :])
                K[..., start:stop, start:] = block
                K[..., stop:, start:stop] = block[..., stop - start :].mT
        return K

    def gradient(self, kernel: Covariance, theta: Tensor, slope: Tensor) -> Tensor:
        """Of the sum of entries times ``slope`` in θ, each block computed anew.

        Args:
            kernel: Depends on ``theta`` by autograd.
            theta: What to differentiate in, a leaf.
            slope: ``... x n x n``, symmetric.
        """
        total = torch.zeros_like(theta)
        for start, stop in self._bounds():
            weight = slope[..., start:stop, start:].clone()
            # Entries right of the block stand for those below it too.
            weight[..., stop - start :] *= 2.0
            with torch.enable_grad():
                block = kernel(self.X[..., start:stop, :], self.X[..., start:, :])
                block = block.expand(weight.shape)
            if not block.requires_grad:
                break
            total += torch.autograd.grad(block, theta, weight)[0]
        return total

    def _bounds(self) -> Iterator[tuple[int, int]]:
        for start in range(0, self.size, self.rows):
            yield start, min(start + self.rows, self.size)
