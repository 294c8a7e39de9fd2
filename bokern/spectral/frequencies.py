"""Frequencies drawn from the spectral density of a stationary covariance."""

from __future__ import annotations

import math

import torch
from scipy import special
from torch import Tensor, nn

from bokern import seeding

SPECTRA = ("rbf", "matern", "product-matern")
"""What is sampled. "matern" is the ARD Matérn, "product-matern" a product of Matérns of
one column each, which is another kernel in more than one column."""

EDGE = 1e-9
"""Quantiles nearer to 0 or 1 count as this: a Matérn of ν = ½ has no moments."""


def unit_frequencies(
    spectrum: str, nu: float, count: int, dim: int, seed: int, quasi: bool = True
) -> Tensor:
    r"""Frequencies of a covariance of unit lengthscales, ``count x dim``, float64.

    Standard normal for the squared exponential; for Matérn-ν these times
    $\sqrt{2\nu / q}$, $q \sim \chi^2_{2\nu}$, a multivariate t of 2ν degrees of freedom
    where the columns share q, a product of univariate ones where each has its own.

    Args:
        spectrum: One of ``SPECTRA``.
        nu: Smoothness of a Matérn.
        count: Number of frequencies.
        dim: Number of columns.
        seed: Of the draw.
        quasi: By scrambled Sobol points rather than independent ones: the mean over
            the frequencies then comes nearer to the covariance.

    References:
        [RandomFeatures]; [SSGP]; MATH section 1
    """
    mixed = 1 if spectrum == "matern" else 0
    columns, seed = mixed + dim, seeding.spawn(seed, "frequencies")
    if quasi:
        engine = torch.quasirandom.SobolEngine(columns, scramble=True, seed=seed)
        uniform = engine.draw(count, dtype=torch.float64)
    else:
        generator = torch.Generator().manual_seed(seed)
        uniform = torch.rand(count, columns, generator=generator, dtype=torch.float64)
    uniform = uniform.clamp(EDGE, 1.0 - EDGE)
    if spectrum == "product-matern":
        return torch.from_numpy(special.stdtrit(2.0 * nu, uniform.numpy()))
    normal = torch.special.ndtri(uniform[:, mixed:])
    if not mixed:
        return normal
    half = torch.from_numpy(special.gammaincinv(nu, uniform[:, :mixed].numpy()))
    return normal * (nu / half).sqrt()


class Frequencies(nn.Module):
    """Frequencies of unit lengthscale, and their cosines and sines.

    A plain module, so that GPyTorch's batch indexing leaves its tensor alone; not a
    part of the state, since the arguments give it again.

    Args:
        spectrum: See `unit_frequencies`.
        nu: See `unit_frequencies`.
        count: M.
        dim: Number of columns.
        seed: Of the draw.
        quasi: See `unit_frequencies`.
    """

    values: Tensor

    def __init__(
        self,
        spectrum: str,
        nu: float,
        count: int,
        dim: int,
        seed: int = 0,
        quasi: bool = True,
    ) -> None:
        super().__init__()
        self.spectrum, self.nu = spectrum, nu
        values = unit_frequencies(spectrum, nu, count, dim, seed, quasi)
        self.register_buffer("values", values, persistent=False)

    def __len__(self) -> int:
        return self.values.shape[0]

    def features(self, x: Tensor) -> Tensor:
        """Cosines, then sines, ``... x n x 2M``, of squared norm 1.

        Args:
            x: ``... x n x d``, in units of the lengthscales.
        """
        angles = x @ self.values.to(x).mT
        return torch.cat([angles.cos(), angles.sin()], -1) / math.sqrt(len(self))

    def correlation(self, difference: Tensor) -> Tensor:
        """Mean cosine of differences of points, ``...`` from ``... x d``."""
        return (difference @ self.values.to(difference).mT).cos().mean(-1)
