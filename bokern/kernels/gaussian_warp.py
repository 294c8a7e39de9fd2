r"""Layers that multiply and add Gaussian processes to their inputs.

$m(x) = g(x) \odot x + h(x)$ with g = 1 + GP and h = GP, both squared exponential, each
column a process of its own given noisy pseudo-targets at J places. The targets are
whitened by what the layer expects of them, $L v$ with
$L L^T = \sigma^2 K_Z + \sigma_n^2 I$ and v standard normal, so that the mean is
$A v$ and the variance $\sigma^2 - |A|^2$, of $A = (L^{-1} \sigma^2 k(Z, x))^T$.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from bokern.numerics import cholesky, paired_squared_distance, squared_distance
from bokern.spectral import expected_rbf, expected_rbf_products


class Process(NamedTuple):
    """One Gaussian process of each column: of leading dimensions ``...``.

    Args:
        targets: v, ``... x J x d``.
        scale: σ, ``...``.
        lengthscale: In units of the inputs, ``...``.
        noise: σ_n of the pseudo-targets.
    """

    targets: Tensor
    scale: Tensor
    lengthscale: Tensor
    noise: float


class Spread(NamedTuple):
    """Gaussian inputs, independent columns: means and variances, ``... x n x d``."""

    mean: Tensor
    variance: Tensor | None
    """None of inputs that are known."""


def warped(
    x: Spread, gain: tuple[Tensor, Tensor], shift: tuple[Tensor, Tensor]
) -> Spread:
    r"""Moments of $g \odot x + h$, with g, h and x taken independent.

    $$\hat x' = \hat g \odot \hat x + \hat h, \qquad
      \Sigma' = \Sigma_x \Sigma_g + \Sigma_x \hat g^2 + \Sigma_g \hat x^2 + \Sigma_h$$

    Args:
        x: Inputs.
        gain: Mean and variance of g.
        shift: Mean and variance of h.

    References:
        [SSWIM] eq. 14 and 15; MATH section 2
    """
    (g, spread_g), (h, spread_h) = gain, shift
    variance = spread_g * x.mean.square() + spread_h
    if x.variance is not None:
        variance = variance + x.variance * (spread_g + g.square())
    return Spread(g * x.mean + h, variance)


def moments(
    x: Spread, places: Tensor, process: Process, plug_in: bool
) -> tuple[Tensor, Tensor]:
    """Mean, ``... x n x d``, and variance, of as many columns or of one for all.

    Args:
        x: Inputs.
        places: ``J x d``.
        process: Given targets at the places.
        plug_in: Whether expectations of the covariances with the places are put into
            the variance at a known input, which leaves out how the process varies over
            uncertain ones.
    """
    targets = process.targets.to(x.mean)
    variance = process.scale.to(x.mean).square()[..., None, None]
    A, factor, (at, mean, spread) = _weights(x, places, process, variance)
    found = A @ targets
    if x.variance is None or plug_in:
        return found, (variance - A.square().sum(-1, keepdim=True)).clamp_min(0.0)
    products = expected_rbf_products(mean, spread, at) * variance.unsqueeze(-1).square()
    inverse = torch.cholesky_inverse(factor).unsqueeze(-3)
    own = variance - (products * inverse).sum((-2, -1)).unsqueeze(-1)
    beta = torch.linalg.solve_triangular(factor.mT, targets, upper=True)
    second = torch.einsum("...aq,...nab,...bq->...nq", beta, products, beta)
    return found, own.clamp_min(0.0) + (second - found.square()).clamp_min(0.0)


def difference_variance(
    x1: Tensor, x2: Tensor, places: Tensor, process: Process, diag: bool
) -> Tensor:
    r"""Variance of the difference of a process between known inputs, in one draw.

    $$2 \sigma^2 (1 - k(x, x')) - |A - A'|^2$$

    without subtracting near-equal numbers where the inputs are near each other.

    Args:
        x1: ``... x n x d``.
        x2: ``... x m x d``.
        places: ``J x d``.
        process: Given targets at the places.
        diag: Whether of row i with row i only.

    Returns:
        ``... x n x m``, or ``... x n``, of every column: they share all but targets.
    """
    apart = paired_squared_distance if diag else squared_distance
    variance = process.scale.to(x1).square()[..., None, None]
    weights = [
        _weights(Spread(x, None), places, process, variance)[0] for x in (x1, x2)
    ]
    lengthscale = process.lengthscale.to(x1)[..., None, None]
    square = apart(x1 / lengthscale, x2 / lengthscale)
    variance = variance.squeeze(-1) if diag else variance
    lost = -2.0 * variance * torch.expm1(-0.5 * square)
    return (lost - apart(*weights)).clamp_min(0.0)


def _weights(
    x: Spread, places: Tensor, process: Process, variance: Tensor
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor, Tensor]]:
    """A, ``... x n x J``, and L; places, means and variances in lengthscales.

    Of a process with this variance, ``... x 1 x 1``.
    """
    lengthscale = process.lengthscale.to(x.mean)[..., None, None]
    at = places / lengthscale
    mean = x.mean / lengthscale
    known = torch.zeros_like(mean)
    spread = known if x.variance is None else x.variance / lengthscale.square()
    eye = torch.eye(len(places), dtype=at.dtype, device=at.device)
    zero = torch.zeros_like(at)
    among = expected_rbf(at, zero, at) * variance + process.noise**2 * eye
    factor, _ = cholesky(among)
    across = expected_rbf(mean, spread, at) * variance
    shape = torch.broadcast_shapes(factor.shape[:-2], across.shape[:-2])
    factor = factor.expand(*shape, *factor.shape[-2:])
    across = across.expand(*shape, *across.shape[-2:])
    A = torch.linalg.solve_triangular(factor, across.mT, upper=False).mT
    return A, factor, (at, mean, spread)
