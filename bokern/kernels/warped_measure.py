"""Stationary covariances of inputs that were moved by Gaussian processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from bokern.kernels.base import ColumnKernel, Columns
from bokern.kernels.expected_mixture import expected_mixture
from bokern.kernels.exposed import ExposedMatern, ExposedRBF
from bokern.kernels.gaussian_warp import difference_variance
from bokern.kernels.sparse_spectrum import limit
from bokern.kernels.warp import UNIFORM, WarpKernel

Difference = tuple[Tensor, Tensor]
"""Mean and variance of the difference of two warped columns, over the lengthscale."""


class WarpedMeasureKernel(WarpKernel):
    r"""What a stationary covariance is expected to be of warped inputs.

    $$k(x, x') = E\, k_u(m(x) - m(x')), \qquad
      m_j(x) - m_j(x') \sim N(\hat m_j(x) - \hat m_j(x'), \Delta_j)$$

    of independent columns. By the law "independent" the warps of two points have
    nothing to do with each other, $\Delta = \Sigma(x) + \Sigma(x')$ also at x = x', so
    that the variance is below 1 and falls where the warp is unknown: the limit of
    SSWIMKernel. By the law "joint" they are of one draw of the processes, and the
    covariances $c_g, c_h$ of gain and shift make two near points move together:

    $$\Delta_j = \Sigma_j(x) + \Sigma_j(x') - 2 (x_j x'_j c_g(x, x') + c_h(x, x'))$$

    which is 0 at x = x': the variance is 1. For a squared exponential

    $$k = \prod_j (1 + \Delta_j/\ell_j^2)^{-1/2}
      \exp\Big(-\frac{(\hat m_j(x) - \hat m_j(x'))^2}{2 (\ell_j^2 + \Delta_j)}\Big)$$

    and a Matérn is a mixture of these (`ExposedMatern`), to 4e-7.

    Reduces to: RBFKernel, MaternKernel, or a product of Matérns of one column, for
    pseudo-targets of 0 as the warps' scales vanish.
    Valid for: any d >= 1; an inner product of mean embeddings, or the second moment of
    a process.
    Cost: O(n m d Q) for the Q = 24 lengthscales of a Matérn, in memory of O(n m d).

    Args:
        columns: Columns read, each with a lengthscale.
        spectrum: ``"rbf"``, ``"matern"``, or ``"product-matern"``, a product of Matérns
            of one column each.
        nu: Smoothness of a Matérn, 1.5 or 2.5.
        layers: See `WarpKernel`; one by the law "joint".
        places: See `WarpKernel`.
        plug_in: See `WarpKernel`.
        law: ``"independent"`` or ``"joint"``.
        batch_shape: Leading dimensions of the hyperparameters.

    References:
        [SSWIM] eq. 12 to 18, with g = 1 + GP in place of GP; MATH section 2
    """

    def __init__(
        self,
        columns: Columns,
        spectrum: str,
        nu: float,
        layers: int = 1,
        places: int = 8,
        plug_in: bool = False,
        law: str = "independent",
        batch_shape: Sequence[int] = (),
    ) -> None:
        super().__init__(columns, layers, places, plug_in, batch_shape)
        self.rule = ExposedRBF.rule if spectrum == "rbf" else ExposedMatern(nu).rule
        self.spectrum, self.nu = spectrum, nu
        self.by_column = spectrum == "product-matern"
        self.law = law

    @property
    def own_evaluations(self) -> int:
        """An entry takes as long as so many of a Matérn's."""
        return max(2, (len(self.rule) + 3) * self.columns.size // 6)

    @property
    def own_entries(self) -> int:
        """A gradient keeps three or, by the joint law, ten numbers a column."""
        each = 10 if self.law == "joint" else 3
        return math.ceil(each * self.columns.size / 40)

    def beginning(self) -> ColumnKernel:
        """The covariance of the spectral density, without a warp."""
        return limit(self, self.spectrum, self.nu)

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Covariances; on the diagonal of at most 1."""
        apart = self._jointly if self.law == "joint" else self._independently
        differences = apart(x1, x2, diag)
        if not self.by_column:
            means, variances = zip(*differences, strict=True)
            return expected_mixture(self.rule, means, variances)
        product = None
        for mean, variance in differences:
            factor = expected_mixture(self.rule, (mean,), (variance,))
            product = factor if product is None else product * factor
        assert product is not None
        return product

    def _independently(
        self, x1: Tensor, x2: Tensor, diag: bool
    ) -> Iterator[Difference]:
        """Differences of points of two draws, column by column."""
        a = self._scaled(x1)
        b = a if x2 is x1 else self._scaled(x2)
        for j in range(self.columns.size):
            mean, other = _pairs(a[0], b[0], j, diag)
            variance, more = _pairs(a[1], b[1], j, diag)
            yield mean - other, variance + more

    def _scaled(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Means and variances of warped inputs, in lengthscales."""
        mean, variance = self.warp(x)
        lengthscale = UNIFORM * self.lengthscale
        assert variance is not None
        return mean / lengthscale, variance / lengthscale.square()

    def _jointly(self, x1: Tensor, x2: Tensor, diag: bool) -> Iterator[Difference]:
        """Differences of points of one draw, column by column."""
        lengthscale = UNIFORM * self.lengthscale
        one, two = self._known(x1), self._known(x2)
        places = self.places.values.to(x1)
        apart_g, apart_h = (
            difference_variance(one.x, two.x, places, self.process(name, 0), diag)
            for name in ("gain", "shift")
        )
        v, w = _pairs(one.gain, two.gain, 0, diag)
        for j in range(self.columns.size):
            mean, other = _pairs(one.mean, two.mean, j, diag)
            a, b = _pairs(one.x, two.x, j, diag)
            # Of a g(x) - b g(x'); no two terms are near each other where a is near b.
            stretched = a * b * apart_g + (a - b) * (a * v - b * w)
            scale = lengthscale[..., j] if diag else lengthscale[..., j].unsqueeze(-1)
            variance = (stretched + apart_h) / scale.square()
            yield (mean - other) / scale, variance.clamp_min(0.0)

    def _known(self, x: Tensor) -> _Known:
        (bend,) = self.bends(x)
        return _Known(bend.inputs.mean, bend.outputs.mean, bend.gain[1])


class _Known(NamedTuple):
    """Inputs and means of the warped ones, ``... x n x d``, and variances of gains."""

    x: Tensor
    mean: Tensor
    gain: Tensor


def _pairs(a: Tensor, b: Tensor, j: int, diag: bool) -> tuple[Tensor, Tensor]:
    """Column j of each, of shapes that broadcast over pairs of rows."""
    first, second = a[..., j], b[..., j]
    return (first, second) if diag else (first.unsqueeze(-1), second.unsqueeze(-2))
