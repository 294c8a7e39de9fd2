"""Kernels of the scaled distance alone, and how sums of them are made fast."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch import Tensor

from bokern.kernels.base import ColumnKernel


class RadialKernel(ColumnKernel):
    r"""A function of the scaled distance, of variance 1.

    $$k(x, x') = \rho(s), \qquad s = \sum_j (x_j - x'_j)^2 / \ell_j^2$$

    Methods that end in an underscore build no graph and overwrite their argument, which
    is what makes sums over many views fast (`bokern.kernels.radial_mean`).

    Cost: O(n m d) time, O(n m d) memory for d <= 4, O(n m) beyond.
    """

    is_stationary = True

    @abstractmethod
    def profile(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """ρ of squared scaled distances, elementwise.

        Args:
            square: Of any shape.
            shape: Values of `shape` that broadcast with it.
        """

    @abstractmethod
    def profile_(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """The same in place."""

    @abstractmethod
    def slopes_(
        self, square: Tensor, shape: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """dρ/ds, in place, and the derivative in ``shape``."""

    @property
    def shape(self) -> Tensor | None:
        """The hyperparameter of ρ, ``batch``; None if it has none."""
        return None

    @property
    def has_slope(self) -> bool:
        """Whether the slope is finite at 0."""
        return True

    def embed(self, x: Tensor) -> Tensor:
        """Points, ``... x n x d``, in units of the lengthscales."""
        return self.columns.select(x) / self.lengthscale

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations, from lengthscales in units of the box."""
        shape = self.shape
        if shape is not None:
            shape = shape[..., None] if diag else shape[..., None, None]
        return self.profile(self.scaled_square(x1, x2, diag), shape)
