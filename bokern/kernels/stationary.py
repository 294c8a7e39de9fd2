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


class RadialKernel(StationaryKernel):
    """One whose profile has no hyperparameters.

    The two functions here build no graph and overwrite their argument, which is what
    makes sums over many views fast (`bokern.kernels.radial_mean`).
    """

    @property
    def has_slope(self) -> bool:
        """Whether the slope is finite at 0."""
        return True

    def embed(self, x: Tensor) -> Tensor:
        """Points, ``... x n x d``, in units of the lengthscales."""
        return self.columns.select(x) / self.lengthscale

    @abstractmethod
    def profile_(self, square: Tensor) -> Tensor:
        """ρ of the squared scaled distance, elementwise, in place."""

    @abstractmethod
    def slope_(self, square: Tensor) -> Tensor:
        """dρ/ds, elementwise, in place."""


class RBFKernel(RadialKernel):
    r"""Squared exponential: infinitely smooth functions.

    $$\rho(s) = \exp(-s / 2)$$

    References:
        [GPML] eq. 4.9
    """

    def profile(self, square: Tensor, diag: bool) -> Tensor:
        """Gaussian."""
        return torch.exp(-0.5 * square)

    def profile_(self, square: Tensor) -> Tensor:
        """Gaussian, in place."""
        return square.mul_(-0.5).exp_()

    def slope_(self, square: Tensor) -> Tensor:
        """Gaussian times −½, in place."""
        return self.profile_(square).mul_(-0.5)

    def complement(self, x1: Tensor, x2: Tensor, diag: bool = False) -> Tensor:
        """One minus the correlation, to the last digit."""
        return -torch.expm1(-0.5 * self.scaled_square(x1, x2, diag))


class MaternKernel(RadialKernel):
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

    @property
    def has_slope(self) -> bool:
        """Not for ν = ½, which has a cusp."""
        return self.nu > 0.5

    def profile_(self, square: Tensor) -> Tensor:
        """An exponential times a polynomial of the distance, in place."""
        r = square.mul_(2.0 * self.nu).sqrt_()
        decay = torch.neg(r).exp_()
        if self.nu == 0.5:
            return decay
        if self.nu == 1.5:
            return r.add_(1.0).mul_(decay)
        return torch.mul(r, r).mul_(1.0 / 3.0).add_(r).add_(1.0).mul_(decay)

    def slope_(self, square: Tensor) -> Tensor:
        r"""$-\tfrac32 e^{-r}$ and $-\tfrac56 (1 + r) e^{-r}$, in place."""
        r = square.mul_(2.0 * self.nu).sqrt_()
        if self.nu == 1.5:
            return r.neg_().exp_().mul_(-1.5)
        decay = torch.neg(r).exp_()
        return r.add_(1.0).mul_(decay).mul_(-5.0 / 6.0)


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
