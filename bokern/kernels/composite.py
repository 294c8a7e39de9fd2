"""Sums and products of kernels, dense."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, cast

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

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """The parts' covariances, combined elementwise."""
        terms = (kernel.forward(x1, x2, diag=diag) for kernel in self.kernels)
        return reduce(self.combine, terms)

    @abstractmethod
    def combine(self, a: Tensor, b: Tensor) -> Tensor:
        """Two covariances made one, elementwise."""


class SumKernel(_CompositeKernel):
    r"""The kernel of a sum of independent functions, $\sum_i k_i$."""

    symbol = "+"

    def combine(self, a: Tensor, b: Tensor) -> Tensor:
        """Their sum."""
        return a + b


class ProductKernel(_CompositeKernel):
    r"""The elementwise product $\prod_i k_i$, PSD by Schur's theorem."""

    symbol = "*"

    def combine(self, a: Tensor, b: Tensor) -> Tensor:
        """Their product."""
        return a * b
