"""Kernels of the distance alone, with one lengthscale a column (ARD)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import ColumnKernel, Columns
from bokern.numerics import safe_sqrt

MATERN_NUS = (0.5, 1.5, 2.5)


class StationaryKernel(ColumnKernel):
    r"""A function of the scaled distance, of variance 1.

    $$k(x, x') = \rho(s), \qquad s = \sum_j (x_j - x'_j)^2 / \ell_j^2$$

    Valid for: any d >= 1, as each ρ is positive definite in every dimension.
    Cost: O(n m d) time, O(n m d) memory for d <= 4, O(n m) beyond.

    Args:
        columns: Columns read, and their ties.
        batch_shape: Leading dimensions of the hyperparameters.
    """

    is_stationary = True

    def __init__(self, columns: Columns, batch_shape: Sequence[int] = ()) -> None:
        initial = min(1.0, 0.3 * math.sqrt(columns.size))
        prior = hyperpriors.lengthscale(columns.size)
        super().__init__(columns, prior, initial, batch_shape)

    @abstractmethod
    def profile(self, square: Tensor, diag: bool) -> Tensor:
        """ρ of the squared scaled distance, elementwise; ``... x n`` if ``diag``."""

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations, from lengthscales in units of the box."""
        return self.profile(self.scaled_square(x1, x2, diag), diag)


class RBFKernel(StationaryKernel):
    r"""Squared exponential: infinitely smooth functions.

    $$\rho(s) = \exp(-s / 2)$$

    References:
        [GPML] eq. 4.9
    """

    def profile(self, square: Tensor, diag: bool) -> Tensor:
        """Gaussian."""
        return torch.exp(-0.5 * square)

    def complement(self, x1: Tensor, x2: Tensor, diag: bool = False) -> Tensor:
        """One minus the correlation, to the last digit."""
        return -torch.expm1(-0.5 * self.scaled_square(x1, x2, diag))


class MaternKernel(StationaryKernel):
    r"""Matérn: functions with ⌈ν⌉ − 1 derivatives; ν = ½ is Ornstein–Uhlenbeck.

    With $r = \sqrt{2 \nu s}$: $e^{-r}$, $(1 + r) e^{-r}$ and
    $(1 + r + r^2/3) e^{-r}$ for ν = 1/2, 3/2 and 5/2.

    Reduces to: RBFKernel as ν grows.

    References:
        [GPML] eq. 4.17
    """

    def __init__(
        self, columns: Columns, nu: float, batch_shape: Sequence[int] = ()
    ) -> None:
        super().__init__(columns, batch_shape)
        self.nu = nu

    def profile(self, square: Tensor, diag: bool) -> Tensor:
        """An exponential times a polynomial of the distance."""
        r = safe_sqrt(2.0 * self.nu * square)
        decay = torch.exp(-r)
        if self.nu == 0.5:
            return decay
        if self.nu == 1.5:
            return (1.0 + r) * decay
        return (1.0 + r + r.square() / 3.0) * decay


class RationalQuadraticKernel(StationaryKernel):
    r"""A scale mixture of squared exponentials.

    $$\rho(s) = (1 + s / 2\alpha)^{-\alpha}$$

    Reduces to: RBFKernel as α grows.

    References:
        [GPML] eq. 4.19
    """

    def __init__(self, columns: Columns, batch_shape: Sequence[int] = ()) -> None:
        super().__init__(columns, batch_shape)
        self.register_hyperparameter("alpha", (), hyperpriors.mixture_shape())

    @property
    def alpha(self) -> Tensor:
        """Shape of the mixture, ``batch``."""
        return self.hyperparameter("alpha")

    def profile(self, square: Tensor, diag: bool) -> Tensor:
        """A power."""
        alpha = self.alpha
        alpha = alpha[..., None] if diag else alpha[..., None, None]
        return torch.exp(-alpha * torch.log1p(square / (2.0 * alpha)))
