r"""The default priors on hyperparameters, in one place.

They suit inputs in the unit cube of the declared box and z-scored outcomes. Each is
proper, each is declared on the constrained (positive) value, and all but the mean, the
offset and the score of a location are log-normal, so that in log coordinates, Jacobian
included, they are Gaussian. Evidence depends on them; every report prints them.
"""

from __future__ import annotations

import math

import torch
from gpytorch.priors import LogNormalPrior, NormalPrior, Prior

NOISE_FLOOR = 1e-4
"""Noise variance is this plus a log-normal excess: a limit, never a hard bound."""


def lengthscale(dim: int) -> Prior:
    """Scales with the square root of the number of columns, as BoTorch's default."""
    return _log_normal(math.sqrt(2.0) + 0.5 * math.log(dim), math.sqrt(3.0))


def outputscale() -> Prior:
    """Variance of a component, a linear trend's included."""
    return _log_normal(0.0, 1.0)


def success_outputscale() -> Prior:
    """Variance behind a probit: evaluations mostly fail or succeed for a reason."""
    return _log_normal(math.log(9.0), 1.0)


def excess_noise() -> Prior:
    """Noise variance above ``NOISE_FLOOR``."""
    return _log_normal(-4.0, 1.0)


def mean() -> Prior:
    """Constant mean of z-scored outcomes."""
    return _normal(0.0, 1.0)


def period() -> Prior:
    """Period, in units of the box."""
    return _log_normal(math.log(0.3), 1.0)


def periodic_lengthscale() -> Prior:
    """Lengthscale of a periodic kernel, in units of its sine."""
    return _log_normal(0.0, 1.0)


def mixture_shape() -> Prior:
    """Shape α of the rational quadratic."""
    return _log_normal(math.log(2.0), 1.0)


def offset() -> Prior:
    """Point at which a linear component is zero."""
    return _normal(0.5, 0.5)


def concentration() -> Prior:
    """Concentrations of a Kumaraswamy warp; 1 and 1 are the identity."""
    return _log_normal(0.0, 0.75)


def change_location() -> Prior:
    """Of ζ, for a change-point at Φ(ζ), which is uniform on the column's range."""
    return _normal(0.0, 1.0)


def change_width() -> Prior:
    """Width of a change-point, in units of the box."""
    return _log_normal(math.log(0.05), 1.0)


def outcome_power() -> Prior:
    """Power of a Yeo–Johnson transform of outcomes, cut to [0, 2]; 1 is none."""
    return _normal(1.0, 1.0)


def latent_scale() -> Prior:
    """Standard deviation σ₁ of a hidden layer, in units of the next lengthscale."""
    return _log_normal(math.log(0.5), 1.0)


def latent_lengthscale(dim: int) -> Prior:
    """Lengthscale ℓ₁ of a hidden layer."""
    return _log_normal(math.log(0.3 * math.sqrt(dim)), 0.7)


def mean_lengthscale(dim: int) -> Prior:
    """Lengthscale of a hidden layer whose mean is the identity."""
    return _log_normal(-1.0 + 0.5 * math.log(dim), 1.0)


def hyperdatum() -> Prior:
    """What a layer is given, whitened by its own prior; weights of a network."""
    return _normal(0.0, 1.0)


def warp_scale() -> Prior:
    """Standard deviation of what a warp multiplies or adds, in sd of uniform inputs.

    Narrow: at a mode, many targets that are whitened by it pay little for making it
    large. With a log sd of .5, concrete's went to 3, ten times the median, and errors
    on rows that were held out rose by a tenth above those of the waves alone.
    """
    return _log_normal(math.log(0.3), 0.1)


def warp_lengthscale(dim: int) -> Prior:
    """Lengthscale of a warp, in sd of uniform inputs: across the box and beyond."""
    return _log_normal(math.log(3.0 * math.sqrt(dim)), 0.3)


def _log_normal(loc: float, scale: float) -> Prior:
    return LogNormalPrior(_float64(loc), _float64(scale))


def _normal(loc: float, scale: float) -> Prior:
    return NormalPrior(_float64(loc), _float64(scale))


def _float64(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def describe(prior: Prior) -> str:
    """A prior in words, as reports print it."""
    name = type(prior).__name__.removesuffix("Prior")
    if not isinstance(prior, LogNormalPrior | NormalPrior):
        return name
    loc, scale = (torch.as_tensor(v).flatten()[0] for v in (prior.loc, prior.scale))
    return f"{name}({float(loc):.3g}, {float(scale):.3g})"
