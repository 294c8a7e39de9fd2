"""Sums and products of kernels, dense."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, cast

import torch
from torch import Tensor, nn

from bokern.kernels.base import StructureKernel


class _CompositeKernel(StructureKernel):
    symbol: str

    def __init__(self, kernels: Sequence[StructureKernel]) -> None:
        super().__init__(kernels[0].batch_shape)
        self.kernels = nn.ModuleList(kernels)

    @property
    def is_stationary(self) -> bool:
        """Whether all parts are."""
        return all(kernel.is_stationary for kernel in self.kernels)

    @property
    def label(self) -> str:
        """Those of the parts, combined."""
        kernels = cast("Iterable[StructureKernel]", self.kernels)
        return f" {self.symbol} ".join(kernel.label for kernel in kernels)

    @property
    def num_features(self) -> int | None:
        """From those of the parts, if all have them."""
        kernels = cast("Iterable[StructureKernel]", self.kernels)
        counts = [kernel.num_features for kernel in kernels]
        known = [count for count in counts if count is not None]
        return self.count(known) if len(known) == len(counts) else None

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """The parts' covariances, combined elementwise."""
        terms = (kernel.forward(x1, x2, diag=diag) for kernel in self.kernels)
        return reduce(self.combine, terms)

    @staticmethod
    @abstractmethod
    def count(counts: list[int]) -> int:
        """Number of features, from those of the parts."""

    @abstractmethod
    def combine(self, a: Tensor, b: Tensor) -> Tensor:
        """Two covariances made one, elementwise."""


class SumKernel(_CompositeKernel):
    r"""The kernel of a sum of independent functions, $\sum_i k_i$."""

    symbol = "+"

    def combine(self, a: Tensor, b: Tensor) -> Tensor:
        """Their sum."""
        return a + b

    @staticmethod
    def count(counts: list[int]) -> int:
        """The sum."""
        return sum(counts)

    def features(self, x: Tensor) -> Tensor:
        """Those of the parts, side by side."""
        kernels = cast("Iterable[StructureKernel]", self.kernels)
        return torch.cat([kernel.features(x) for kernel in kernels], -1)


class ProductKernel(_CompositeKernel):
    r"""The elementwise product $\prod_i k_i$, PSD by Schur's theorem."""

    symbol = "*"

    def combine(self, a: Tensor, b: Tensor) -> Tensor:
        """Their product."""
        return a * b

    @staticmethod
    def count(counts: list[int]) -> int:
        """The product."""
        return math.prod(counts)

    def features(self, x: Tensor) -> Tensor:
        """All products of one of each part, the Khatri–Rao product."""
        kernels = cast("Iterable[StructureKernel]", self.kernels)
        parts = (kernel.features(x) for kernel in kernels)
        return reduce(
            lambda a, b: (a.unsqueeze(-1) * b.unsqueeze(-2)).flatten(-2), parts
        )
