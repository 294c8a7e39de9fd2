"""Small noisy data sets whose true structure is known, for studies of the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bokern.errors import DataError
from bokern.numerics import cholesky
from bokern.problems.covariance import (
    invariant,
    matern52,
    plain,
    squared_exponential,
)
from bokern.seeding import generator
from bokern.views import Orbit, swap

# Functions have unit variance; the noise is a standard deviation.
LENGTHSCALE_1D, NOISE_1D = 0.2, 0.1
LENGTHSCALE_2D, NOISE_2D = 0.25, 0.05


@dataclass(frozen=True)
class Sample:
    """A data set on the unit cube.

    Args:
        X: Inputs, ``n x d``.
        y: Noisy values, ``n``.
        f: Values without noise, ``n``.
    """

    X: Tensor
    y: Tensor
    f: Tensor

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The unit cube, as ``bokern.compare(bounds=)`` wants it."""
        return [(0.0, 1.0)] * self.X.shape[-1]


def stationary_sample(n: int, seed: int) -> Sample:
    """A Matérn-5/2 function of one input, at ``n`` uniform random points.

    Raises:
        DataError: If ``n`` is not positive.
    """
    source = _source("stationary", n, seed)
    X = torch.rand(n, 1, dtype=torch.float64, generator=source)
    return _sample(X, plain(matern52(LENGTHSCALE_1D), X, X), NOISE_1D, source)


def warped_sample(n: int, seed: int, a: float = 3.0, b: float = 0.4) -> Sample:
    r"""A Matérn-5/2 function of a Kumaraswamy-warped input, ``1 − (1 − x^a)^b``.

    With the default concentrations it hardly moves on the left and is steep at the
    right end.

    Args:
        n: Number of points.
        seed: A seed is a data set.
        a: First concentration, the exponent of x.
        b: Second concentration.

    Raises:
        DataError: If ``n``, ``a`` or ``b`` is not positive.
    """
    if not (a > 0 and b > 0):
        raise DataError(
            f"warped_sample expects positive concentrations, got a={a!r}, b={b!r}."
        )
    source = _source("warped", n, seed)
    X = torch.rand(n, 1, dtype=torch.float64, generator=source)
    warped = 1.0 - (1.0 - X**a) ** b
    K = plain(matern52(LENGTHSCALE_1D), warped, warped)
    return _sample(X, K, NOISE_1D, source)


def swap_sample(
    n: int, seed: int, symmetric_share: float = 1.0, blind: bool = False
) -> Sample:
    """A smooth function of two inputs, symmetric under their swap or not.

    The prior is squared exponential.

    Args:
        n: Number of points.
        seed: A seed is a data set.
        symmetric_share: Share of the prior variance that is symmetric: 1 for a
            symmetric function, 0 for a plain one.
        blind: Whether all points lie where ``x1 − x2 ≥ .3``, so that none is near
            the mirror image of another and the data cannot tell.

    Raises:
        DataError: If ``n`` is not positive or the share is outside [0, 1].

    References:
        [Invariance] figure 2, for the setting.
    """
    if not 0.0 <= symmetric_share <= 1.0:
        raise DataError(
            "swap_sample expects a symmetric_share between 0 and 1, got "
            f"{symmetric_share!r}."
        )
    source = _source("swap", n, seed)
    X = torch.rand(n, 2, dtype=torch.float64, generator=source)
    if blind:
        high, low = X.amax(-1), X.amin(-1)
        X = torch.stack([0.3 + 0.7 * high, 0.7 * low], -1)
    orbit = Orbit(swap(0, 1), 2)
    profile = squared_exponential(LENGTHSCALE_2D)
    K = symmetric_share * invariant(profile, X, X, orbit, normalised=True)
    K = K + (1.0 - symmetric_share) * plain(profile, X, X)
    return _sample(X, K, NOISE_2D, source)


def _source(kind: str, n: int, seed: int) -> torch.Generator:
    if n < 1:
        raise DataError(f"a sample expects n >= 1 points, got {n!r}.")
    return generator("sample", kind, seed)


def _sample(X: Tensor, K: Tensor, noise: float, source: torch.Generator) -> Sample:
    L, _ = cholesky(K)
    normal = torch.randn(2, len(X), dtype=X.dtype, generator=source)
    f = L @ normal[0]
    return Sample(X=X, y=f + noise * normal[1], f=f)
