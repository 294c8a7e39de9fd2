"""Sums of waves on inputs that were moved by Gaussian processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn

from bokern import hyperpriors
from bokern.kernels.base import Columns
from bokern.kernels.gaussian_warp import Process, Spread, warped
from bokern.kernels.hyperdata import spread_places
from bokern.kernels.sparse_spectrum import SparseSpectrumKernel
from bokern.spectral import Frequencies, expected_features

PSEUDO_NOISE = 0.15
"""Standard deviation of the noise of pseudo-targets: with it a few places bend the
inputs, and do not tear them."""

STILL = math.log(1e-3)
"""Log scale of a warp that moves nothing that matters, and still has a gradient."""

UNIFORM = math.sqrt(12.0)
"""Warps take inputs about the box's centre in standard deviations of uniform ones."""


class _Places(nn.Module):
    """Kept apart, so that GPyTorch's batch indexing leaves them alone."""

    values: Tensor

    def __init__(self, count: int, dim: int) -> None:
        super().__init__()
        spread = UNIFORM * (spread_places(count, range(dim), dim) - 0.5)
        self.register_buffer("values", spread, persistent=False)


class SSWIMKernel(SparseSpectrumKernel):
    r"""Waves on a Gaussian measure of warped inputs: nonstationary, in closed form.

    Each layer multiplies every column by one Gaussian process and adds another, both
    given learned pseudo-targets (`bokern.kernels.gaussian_warp`). What is left unknown
    of the warped input, $m(x) \sim N(\hat m(x), \Sigma(x))$, fades the waves:

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
        layers: Warps, one after the other.
        places: J, at fixed scrambled-Sobol places of the box.
        plug_in: See `bokern.kernels.gaussian_warp.warped`.
        batch_shape: Leading dimensions of the hyperparameters.

    References:
        [SSWIM] eq. 12 to 18, with g = 1 + GP in place of GP; MATH section 2
    """

    is_stationary = False
    waits = MappingProxyType(
        {"raw_gain": 0.0, "raw_shift": 0.0}
        | {"raw_gain_scale": STILL, "raw_shift_scale": STILL}
    )

    def __init__(
        self,
        columns: Columns,
        frequencies: Frequencies,
        layers: int = 1,
        places: int = 8,
        plug_in: bool = False,
        batch_shape: Sequence[int] = (),
    ) -> None:
        super().__init__(columns, frequencies, batch_shape)
        d = columns.size
        self.layers = layers
        self.plug_in = plug_in
        self.places = _Places(places, d)
        targets = hyperpriors.hyperdatum()
        for name in ("gain", "shift"):
            shape = (layers, places, d)
            self.register_hyperparameter(name, shape, targets, positive=False)
            self.register_hyperparameter(
                f"{name}_scale", (layers,), hyperpriors.warp_scale()
            )
            self.register_hyperparameter(
                f"{name}_lengthscale", (layers,), hyperpriors.warp_lengthscale(d)
            )
            self.initialize_hyperparameter(f"{name}_scale", 0.5)
            self.initialize_hyperparameter(f"{name}_lengthscale", 3.0 * math.sqrt(d))

    @property
    def row_size(self) -> int:
        """Features, or products of covariances with the places from layer 2 on."""
        J = len(self.places.values)
        return max(self.num_features, J if self.layers == 1 else J * J)

    def warp(self, x: Tensor) -> Spread:
        """Warped inputs, in standard deviations of uniform ones about the centre."""
        places = self.places.values.to(x)
        spread = Spread(UNIFORM * (self.columns.select(x) - 0.5), None)
        for layer in range(self.layers):
            gain, shift = (self._process(name, layer) for name in ("gain", "shift"))
            spread = warped(spread, places, gain, shift, self.plug_in)
        return spread

    def _process(self, name: str, layer: int) -> Process:
        return Process(
            self.hyperparameter(name)[..., layer, :, :],
            self.hyperparameter(f"{name}_scale")[..., layer],
            self.hyperparameter(f"{name}_lengthscale")[..., layer],
            PSEUDO_NOISE,
        )

    def features(self, x: Tensor) -> Tensor:
        """Expected cosines and sines, of squared norm 1 at most."""
        mean, variance = self.warp(x)
        lengthscale = UNIFORM * self.lengthscale
        assert variance is not None
        return expected_features(
            self.frequencies, mean / lengthscale, variance / lengthscale.square()
        )

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Covariances; on the diagonal of at most 1."""
        a, b = self.features(x1), self.features(x2)
        return (a * b).sum(-1) if diag else a @ b.mT
