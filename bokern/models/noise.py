"""Gaussian likelihoods: the inferred noise variance, and the floor of a known one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from gpytorch.constraints import GreaterThan
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.likelihoods.noise_models import HomoskedasticNoise
from gpytorch.settings import min_fixed_noise
from torch import Tensor

from bokern import hyperpriors

INITIAL_EXCESS = -4.0
"""Logarithm of the excess noise variance before fitting: its prior's centre."""


KNOWN_NOISE_FLOOR, KNOWN_NOISE_FLOOR_FLOAT32 = 1e-6, 1e-4
"""Least known noise variance, in units of the z-scored outcome: GPyTorch rounds up to
it, with a warning, so that noise-free repeats can be factorised."""


def known_noise_floor() -> min_fixed_noise:
    """A context in which GPyTorch rounds to our floor, whatever its setting is."""
    return min_fixed_noise(
        float_value=KNOWN_NOISE_FLOOR_FLOAT32, double_value=KNOWN_NOISE_FLOOR
    )


def inferred_noise(batch_shape: Sequence[int] = ()) -> GaussianLikelihood:
    """A likelihood of noise variance ``NOISE_FLOOR`` plus a log-normal excess.

    The excess is a logarithmic coordinate: the floor is a limit and never a bound.
    """
    constraint = GreaterThan(
        hyperpriors.NOISE_FLOOR, transform=torch.exp, inv_transform=torch.log
    )
    likelihood = GaussianLikelihood(
        noise_constraint=constraint, batch_shape=torch.Size(batch_shape)
    ).double()
    noise = likelihood.noise_covar
    noise.register_prior(
        "noise_prior", hyperpriors.excess_noise(), _read_excess, _write_excess
    )
    with torch.no_grad():
        cast(Tensor, noise.raw_noise).fill_(INITIAL_EXCESS)
    return likelihood


def _read_excess(noise: HomoskedasticNoise) -> Tensor:
    return cast(Tensor, noise.raw_noise).exp()


def _write_excess(noise: HomoskedasticNoise, value: Tensor | float) -> None:
    noise.initialize(raw_noise=torch.as_tensor(value).log())
