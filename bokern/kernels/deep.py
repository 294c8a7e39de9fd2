"""Deep Gaussian processes, by the moments of their prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import ColumnKernel, Columns


class ZeroMeanDeepKernel(ColumnKernel):
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

    is_stationary = True

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

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations, from the hidden layer's lengthscales and σ₁."""
        variance = self._variance(x1, x2, diag)
        return torch.exp(-0.5 * self.width * torch.log1p(variance))

    def fourth_moment(self, x1: Tensor, x2: Tensor) -> Tensor:
        r"""$E f(x)^2 f(x')^2$ of row i with row i, ``... x n``, of the deep process.

        A Gaussian process of the same covariance has $1 + 2 k(x, x')^2$.
        """
        variance = 2.0 * self._variance(x1, x2, True)
        return 1.0 + 2.0 * torch.exp(-0.5 * self.width * torch.log1p(variance))

    def _variance(self, x1: Tensor, x2: Tensor, diag: bool) -> Tensor:
        """Of the difference of each latent."""
        square = self.scaled_square(x1, x2, diag)
        scale = self.latent_scale
        scale = scale[..., None] if diag else scale[..., None, None]
        return -2.0 * scale.square() * torch.expm1(-0.5 * square)
