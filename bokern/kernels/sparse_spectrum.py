"""Stationary kernels as finite sums of waves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from bokern.kernels.base import ColumnKernel, Columns
from bokern.kernels.product_matern import ProductMaternKernel
from bokern.kernels.stationary import MaternKernel, RBFKernel
from bokern.spectral import Frequencies

FEW_WAVES = 64
"""Fewer are far from the covariance that they tend to: a fit begins with themselves."""


class SparseSpectrumKernel(ColumnKernel):
    r"""A mean of cosines, at frequencies drawn from a spectral density.

    $$k(x, x') = \frac1M \sum_m \cos\big(\omega_m^T (x - x') / \ell\big)
      = \varphi(x)^T \varphi(x')$$

    Of 2M features, so that a model of n observations costs O(n M²) rather than O(n³),
    and a draw from its posterior is a whole function. The frequencies stay as drawn.

    Reduces to: the covariance of the spectral density as M grows.
    Valid for: any d >= 1, as an inner product. Rank 2M: n > 2M values have no density
    without noise.
    Cost: O(n M d) for features, O(n m M) for covariances.

    Args:
        columns: Columns read, and their ties.
        frequencies: Of as many columns.
        batch_shape: Leading dimensions of the hyperparameters.

    References:
        [SSGP]; [SSWIM] eq. 6, whose factor gives twice the variance; MATH section 1
    """

    is_stationary = True

    def __init__(
        self,
        columns: Columns,
        frequencies: Frequencies,
        batch_shape: Sequence[int] = (),
    ) -> None:
        super().__init__(columns, batch_shape=batch_shape)
        self.frequencies = frequencies

    @property
    def own_evaluations(self) -> int:
        """An entry takes as long as so many of a Matérn's."""
        return max(1, self.row_size // 32)

    @property
    def num_features(self) -> int:
        """A cosine and a sine for each frequency."""
        return 2 * len(self.frequencies)

    def features(self, x: Tensor) -> Tensor:
        """Cosines and sines, of squared norm 1."""
        return self.frequencies.features(self.columns.select(x) / self.lengthscale)

    def beginning(self) -> ColumnKernel:
        """The covariance of the spectral density, if the waves are many."""
        if len(self.frequencies) < FEW_WAVES:
            return self
        return limit(self, self.frequencies.spectrum, self.frequencies.nu)

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations, from lengthscales in units of the box."""
        if not diag:
            return self.features(x1) @ self.features(x2).mT
        apart = self.columns.select(x1) - self.columns.select(x2)
        return self.frequencies.correlation(apart / self.lengthscale)


def limit(kernel: ColumnKernel, spectrum: str, nu: float) -> ColumnKernel:
    """What waves of more and more frequencies tend to, at a kernel's lengthscales."""
    columns, batch = kernel.columns, kernel.batch_shape
    found: ColumnKernel
    if spectrum == "rbf":
        found = RBFKernel(columns, batch)
    elif spectrum == "matern":
        found = MaternKernel(columns, nu, batch)
    else:
        found = ProductMaternKernel(columns, nu, batch)
    found.lengthscale = kernel.hyperparameter("lengthscale").detach()
    return found
