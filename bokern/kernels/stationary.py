"""Kernels of the distance alone, with one lengthscale a column (ARD)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import Columns
from bokern.kernels.radial import RadialKernel
from bokern.numerics import safe_sqrt

MATERN_NUS = (0.5, 1.5, 2.5)


class StationaryKernel(RadialKernel):
    """A radial kernel of one layer, with the prior of such lengthscales.

    Valid for: any d >= 1, as each ρ is positive definite in every dimension.

    Args:
        columns: Columns read, and their ties.
        batch_shape: Leading dimensions of the hyperparameters.
    """

    def __init__(self, columns: Columns, batch_shape: Sequence[int] = ()) -> None:
        super().__init__(columns, batch_shape=batch_shape)


class RBFKernel(StationaryKernel):
    r"""Squared exponential: infinitely smooth functions.

    $$\rho(s) = \exp(-s / 2)$$

    References:
        [GPML] eq. 4.9
    """

    def profile(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """Gaussian."""
        return torch.exp(-0.5 * square)

    def profile_(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """Gaussian, in place."""
        return square.mul_(-0.5).exp_()

    def slopes_(
        self, square: Tensor, shape: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Gaussian times −½, in place."""
        return square.mul_(-0.5).exp_().mul_(-0.5), None

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

    def profile(self, square: Tensor, shape: Tensor | None) -> Tensor:
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

    def profile_(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """An exponential times a polynomial of the distance, in place."""
        r = square.mul_(2.0 * self.nu).sqrt_()
        decay = torch.neg(r).exp_()
        if self.nu == 0.5:
            return decay
        if self.nu == 1.5:
            return r.add_(1.0).mul_(decay)
        return torch.mul(r, r).mul_(1.0 / 3.0).add_(r).add_(1.0).mul_(decay)

    def slopes_(
        self, square: Tensor, shape: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        r"""$-\tfrac32 e^{-r}$ and $-\tfrac56 (1 + r) e^{-r}$, in place."""
        r = square.mul_(2.0 * self.nu).sqrt_()
        if self.nu == 1.5:
            return r.neg_().exp_().mul_(-1.5), None
        decay = torch.neg(r).exp_()
        return r.add_(1.0).mul_(decay).mul_(-5.0 / 6.0), None


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

    @property
    def shape(self) -> Tensor:
        """α."""
        return self.alpha

    def profile(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """A power."""
        assert shape is not None
        return torch.exp(-shape * torch.log1p(square / (2.0 * shape)))

    def profile_(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """A power, in place."""
        assert shape is not None
        return square.div_(2.0 * shape).log1p_().mul_(-shape).exp_()

    def slopes_(
        self, square: Tensor, shape: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        r"""$-\tfrac12 (1+t)^{-\alpha-1}$ and $\rho\,(t/(1+t) - \log(1+t))$.

        With $t = s / 2\alpha$.
        """
        assert shape is not None
        t = square.div_(2.0 * shape)
        log = t.log1p()
        steeper = torch.exp(log * (-shape - 1.0))
        bend = t.sub_(log.mul_(1.0 + t)).mul_(steeper)
        return steeper.mul_(-0.5), bend
