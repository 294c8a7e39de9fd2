r"""What functions of Gaussian inputs are expected to be: first and second moments.

Inputs $\tilde x \sim N(\hat x, \mathrm{diag}\, s)$, in units of the lengthscales. Of
waves, with $a = \omega_a^T \tilde x$,

$$E \cos a = \exp\big(-\tfrac12 \textstyle\sum_j s_j \omega_{aj}^2\big)
  \cos \omega_a^T \hat x$$

and the same factor for sines; products of two are half the sums of such expectations
at $\omega_a \pm \omega_b$.

References:
    [SSWIM] eq. 12; the second moments in MATH section 2
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from bokern.spectral.frequencies import Frequencies


def expected_features(
    frequencies: Frequencies, mean: Tensor, variance: Tensor
) -> Tensor:
    """Expected cosines, then sines, ``... x n x 2M``.

    Args:
        frequencies: M of them.
        mean: ``... x n x d``.
        variance: Of each column, ``... x n x d``.
    """
    omega = frequencies.values.to(mean)
    angles, faded = mean @ omega.mT, torch.exp(-0.5 * variance @ omega.square().mT)
    waves = torch.cat([faded * angles.cos(), faded * angles.sin()], -1)
    return waves / math.sqrt(len(frequencies))


def expected_products(
    frequencies: Frequencies, mean: Tensor, variance: Tensor
) -> Tensor:
    """Expected products of all pairs of features, ``... x n x 2M x 2M``.

    Args:
        frequencies: M of them.
        mean: ``... x n x d``.
        variance: Of each column, ``... x n x d``.
    """
    omega = frequencies.values.to(mean)
    angles = mean @ omega.mT
    shared = torch.einsum("...nd,ad,bd->...nab", variance, omega, omega)
    own = 0.5 * (variance @ omega.square().mT)
    faded = -(own.unsqueeze(-1) + own.unsqueeze(-2))
    less = angles.unsqueeze(-1) - angles.unsqueeze(-2)
    more = angles.unsqueeze(-1) + angles.unsqueeze(-2)
    apart, together = torch.exp(faded + shared), torch.exp(faded - shared)
    cos_less, cos_more = apart * less.cos(), together * more.cos()
    sin_less, sin_more = apart * less.sin(), together * more.sin()
    rows = (
        torch.cat([cos_less + cos_more, sin_more - sin_less], -1),
        torch.cat([sin_more + sin_less, cos_less - cos_more], -1),
    )
    return torch.cat(rows, -2) / (2.0 * len(frequencies))


def expected_rbf(mean: Tensor, variance: Tensor, places: Tensor) -> Tensor:
    """Expected squared exponentials around places, ``... x n x J``.

    Args:
        mean: ``... x n x d``.
        variance: Of each column, ``... x n x d``.
        places: ``... x J x d``.
    """
    wider = 1.0 + variance
    apart = mean.unsqueeze(-2) - places.unsqueeze(-3)
    exponent = (apart.square() / wider.unsqueeze(-2)).sum(-1)
    return torch.exp(-0.5 * (exponent + wider.log().sum(-1, keepdim=True)))


def expected_rbf_products(mean: Tensor, variance: Tensor, places: Tensor) -> Tensor:
    """Expected products of two of them, ``... x n x J x J``; see `expected_rbf`."""
    between = 0.5 * (places.unsqueeze(-2) + places.unsqueeze(-3))
    spread = (places.unsqueeze(-2) - places.unsqueeze(-3)).square().sum(-1)
    wider = 1.0 + 2.0 * variance
    # The square written out: of J x J x d numbers a row there would be too many.
    pairs = between.flatten(-3, -2).mT
    square = (mean.square() / wider).sum(-1, keepdim=True)
    square = square + wider.reciprocal() @ pairs.square() - 2.0 * (mean / wider) @ pairs
    square = square.clamp_min(0.0).unflatten(-1, spread.shape[-2:])
    faded = wider.log().sum(-1)[..., None, None]
    return torch.exp(-0.25 * spread.unsqueeze(-3) - square - 0.5 * faded)


def function_variance(
    weights: Tensor, covariance: Tensor, features: Tensor, products: Tensor
) -> Tensor:
    r"""Variance of $w^T \varphi(\tilde x)$ over weights and inputs, ``... x n x q``.

    $$\mathrm{tr}(S\, E \varphi \varphi^T)
      + \alpha^T (E \varphi \varphi^T - E\varphi\, E\varphi^T)\, \alpha$$

    Args:
        weights: Means α, ``F x q`` for q functions.
        covariance: S, shared by the functions, ``F x F``.
        features: Expected, ``... x n x F``.
        products: Expected, ``... x n x F x F``.
    """
    trace = (products * covariance).sum((-2, -1)).unsqueeze(-1)
    moment = torch.einsum("aq,...nab,bq->...nq", weights, products, weights)
    return trace + (moment - (features @ weights).square()).clamp_min(0.0)
