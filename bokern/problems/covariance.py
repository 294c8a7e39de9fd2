"""Covariances from which draws are made, written out apart from ``bokern.kernels``.

Draws judge the kernels, so they share no code with them beyond distances and orbits.
A *profile* maps squared distances to covariances of unit variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from bokern.numerics import paired_squared_distance, safe_sqrt, squared_distance
from bokern.views import Orbit

Profile = Callable[[Tensor], Tensor]

_BLOCK = 2**22
"""Covariances held at once while an orbit is summed: 32 MiB in float64."""


def matern52(lengthscale: float) -> Profile:
    """Isotropic Matérn-5/2, twice differentiable functions."""

    def profile(square: Tensor) -> Tensor:
        r = math.sqrt(5.0) * safe_sqrt(square) / lengthscale
        return (1.0 + r + r.square() / 3.0) * torch.exp(-r)

    return profile


def squared_exponential(lengthscale: float) -> Profile:
    """Isotropic squared exponential, infinitely smooth functions."""
    return lambda square: torch.exp(-square / (2.0 * lengthscale**2))


def plain(profile: Profile, x1: Tensor, x2: Tensor) -> Tensor:
    """The covariance itself, ``n1 x n2``."""
    return profile(squared_distance(x1, x2))


def invariant(
    profile: Profile, x1: Tensor, x2: Tensor, orbit: Orbit, normalised: bool
) -> Tensor:
    r"""The mean over an orbit, as a single sum.

    $$\bar k(x, x') = \frac1P \sum_g k(x, g x')$$

    which equals the mean over both orbits, since the group acts by isometries.

    Args:
        profile: The isotropic covariance.
        x1: ``n1 x d``, unit cube.
        x2: ``n2 x d``, unit cube.
        orbit: The group's action.
        normalised: Whether to divide by the standard deviations at both points, so
            that the variance is 1 everywhere rather than between 1/P and 1.

    Returns:
        ``n1 x n2``.

    References:
        [Invariance] for the sum over an orbit; the normalisation is ours.
    """
    images = orbit(x2)
    rows = max(1, _BLOCK // (images.shape[0] * images.shape[1]))
    mean = torch.cat(
        [profile(squared_distance(x, images)).mean(0) for x in x1.split(rows)]
    )
    if not normalised:
        return mean
    s1 = _variance(profile, x1, orbit).sqrt()
    s2 = _variance(profile, x2, orbit).sqrt()
    return mean / (s1.unsqueeze(-1) * s2)


def _variance(profile: Profile, x: Tensor, orbit: Orbit) -> Tensor:
    return profile(paired_squared_distance(x, orbit(x))).mean(0)
