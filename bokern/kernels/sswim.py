"""Sums of waves on inputs that were moved by Gaussian processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from bokern.kernels.base import ColumnKernel, Columns
from bokern.kernels.sparse_spectrum import SparseSpectrumKernel
from bokern.kernels.warp import UNIFORM, WarpKernel
from bokern.spectral import Frequencies, expected_features


class SSWIMKernel(WarpKernel):
    r"""Waves on a Gaussian measure of warped inputs: nonstationary, in closed form.

    What is left unknown of the warped input, $m(x) \sim N(\hat m(x), \Sigma(x))$,
    fades the waves:

    $$k(x, x') = E\varphi(m(x))^T E\varphi(m(x')), \qquad
      E \cos \omega^T m = e^{-\frac12 \omega^T \Sigma\, \omega} \cos \omega^T \hat m$$

    $m(x)$ and $m(x')$ are taken independent, also at x = x', so that the variance is
    below 1 and falls where the warp is unknown. For two layers and more the moments of
    each are matched, output by output.

    Reduces to: SparseSpectrumKernel for pseudo-targets of 0 as the warps' scales
    vanish.
    Valid for: any d >= 1, as an inner product.
    Cost: O(n M d + n J d) for features; O(n J²) more for each layer after the first.

    Args:
        columns: Columns read, each with a lengthscale.
        frequencies: Of as many columns.
        layers: See `WarpKernel`.
        places: See `WarpKernel`.
        plug_in: See `WarpKernel`.
        batch_shape: Leading dimensions of the hyperparameters.

    References:
        [SSWIM] eq. 12 to 18, with g = 1 + GP in place of GP; MATH section 2
    """

    def __init__(
        self,
        columns: Columns,
        frequencies: Frequencies,
        layers: int = 1,
        places: int = 8,
        plug_in: bool = False,
        batch_shape: Sequence[int] = (),
    ) -> None:
        super().__init__(columns, layers, places, plug_in, batch_shape)
        self.frequencies = frequencies

    @property
    def own_evaluations(self) -> int:
        """An entry takes as long as so many of a Matérn's."""
        return max(1, self.row_size // 32)

    @property
    def num_features(self) -> int:
        """A cosine and a sine for each frequency."""
        return 2 * len(self.frequencies)

    @property
    def row_size(self) -> int:
        """Features, or products of covariances with the places from layer 2 on."""
        J = len(self.places.values)
        return max(self.num_features, J if self.layers == 1 else J * J)

    def features(self, x: Tensor) -> Tensor:
        """Expected cosines and sines, of squared norm 1 at most."""
        mean, variance = self.warp(x)
        lengthscale = UNIFORM * self.lengthscale
        assert variance is not None
        return expected_features(
            self.frequencies, mean / lengthscale, variance / lengthscale.square()
        )

    def beginning(self) -> ColumnKernel:
        """What the waves begin with, without a warp."""
        plain = SparseSpectrumKernel(self.columns, self.frequencies, self.batch_shape)
        plain.lengthscale = self.hyperparameter("lengthscale").detach()
        return plain.beginning()

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Covariances; on the diagonal of at most 1."""
        a, b = self.features(x1), self.features(x2)
        return (a * b).sum(-1) if diag else a @ b.mT
