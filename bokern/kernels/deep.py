"""Deep Gaussian processes, by the moments of their prior."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import Columns
from bokern.kernels.radial import RadialKernel


class ZeroMeanDeepKernel(RadialKernel):
    r"""The second moment of a two-layer deep GP, SE over H zero-mean SE latents.

    A heavy-tailed mixture of lengthscales. It depends on x − x' alone: it is
    stationary, and says nothing about nonstationarity.

    $$k(x, x') = (1 + 2 \sigma_1^2 D)^{-H/2}, \qquad
      D = 1 - \exp\big(-\tfrac12 \textstyle\sum_j (x_j - x'_j)^2 / \ell_j^2\big)$$

    The outer lengthscale is 1: it is redundant with $\sigma_1$.

    Reduces to: $\exp(-c D)$ as H grows at $H \sigma_1^2 = c$.
    Valid for: any d >= 1, as the covariance of a process.
    Cost: that of an RBFKernel.

    References:
        [Moments]; the limits in MATH section 3
    """

    def __init__(
        self, columns: Columns, width: int = 1, batch_shape: Sequence[int] = ()
    ) -> None:
        prior = hyperpriors.latent_lengthscale(columns.size)
        super().__init__(columns, prior, 0.3 * math.sqrt(columns.size), batch_shape)
        self.width = width
        self.register_hyperparameter("latent_scale", (), hyperpriors.latent_scale())

    @property
    def latent_scale(self) -> Tensor:
        """Standard deviation σ₁ of the hidden layer, in outer lengthscales."""
        return self.hyperparameter("latent_scale")

    @property
    def shape(self) -> Tensor:
        """σ₁."""
        return self.latent_scale

    def profile(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """A power of one plus the variance of a difference of latents."""
        assert shape is not None
        variance = _variance(square, shape)
        return torch.exp(-0.5 * self.width * torch.log1p(variance))

    def profile_(self, square: Tensor, shape: Tensor | None) -> Tensor:
        """The same in place."""
        assert shape is not None
        variance = square.mul_(-0.5).expm1_().mul_(-2.0 * shape.square())
        return variance.log1p_().mul_(-0.5 * self.width).exp_()

    def slopes_(
        self, square: Tensor, shape: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        r"""$-\tfrac H2 p\, \sigma_1^2 e^{-s/2}$ and $-H p\, v / \sigma_1$.

        With v the variance of a difference and $p = (1 + v)^{-H/2 - 1}$.
        """
        assert shape is not None
        lost = square.mul_(-0.5).expm1_()
        variance = lost * (-2.0 * shape.square())
        power = variance.log1p().mul_(-0.5 * self.width - 1.0).exp_()
        bend = variance.mul_(power).mul_(-self.width / shape)
        slope = lost.add_(1.0).mul_(power).mul_(-0.5 * self.width * shape.square())
        return slope, bend

    def fourth_moment(self, x1: Tensor, x2: Tensor) -> Tensor:
        r"""$E f(x)^2 f(x')^2$ of row i with row i, ``... x n``, of the deep process.

        A Gaussian process of the same covariance has $1 + 2 k(x, x')^2$.
        """
        square = self.scaled_square(x1, x2, True)
        variance = 2.0 * _variance(square, self.latent_scale[..., None])
        return 1.0 + 2.0 * torch.exp(-0.5 * self.width * torch.log1p(variance))


def _variance(square: Tensor, scale: Tensor) -> Tensor:
    """Of the difference of each latent, from squared distances and σ₁."""
    return -2.0 * scale.square() * torch.expm1(-0.5 * square)
