"""Priors and irregular series for tests of the filter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from bokern.inference import MarkovPrior, markov_prior
from bokern.inference.prior import Term
from bokern.kernels import StructureKernel
from bokern.structures import KernelSpace, parse
from tests.oracles.kalman import Part

STRUCTURES = (
    "Matern(0.5)",
    "Matern(1.5)",
    "Matern(2.5)",
    "Matern(0.5) + Matern(1.5) + Matern(2.5)",
    "Matern(0.5) * Matern(2.5)",
    "Linear()",
    "Linear() + Matern(2.5)",
    "(Linear() + Matern(0.5)) * Matern(1.5)",
    "Linear() * Linear() + Matern(1.5) * Matern(1.5)",
)


def prior_of(parts: Sequence[Part], requires_grad: bool = False) -> MarkovPrior:
    """A sum of Matérn processes."""
    terms = []
    for nu, lengthscale, variance in parts:
        rate = _number(math.sqrt(2.0 * nu) / lengthscale, requires_grad)
        factor = (round(nu - 0.5), rate)
        terms.append(Term(_number(variance, requires_grad), (factor,)))
    return MarkovPrior(tuple(terms))


def random_kernel(text: str, *batch: int, seed: int = 0) -> StructureKernel:
    """The kernel of a structure on one column, with hyperparameters at random."""
    kernel = parse(text).kernel(KernelSpace(1, batch)).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in kernel.parameters():
            draw = torch.randn(parameter.shape, generator=generator)
            parameter.add_(0.5 * draw.to(parameter))
    return kernel.requires_grad_(False)


def random_prior(text: str, *batch: int, seed: int = 0) -> MarkovPrior:
    return markov_prior(random_kernel(text, *batch, seed=seed))


def irregular(n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Unsorted times in [0, 1], every seventh one a repeat, and a noisy wave."""
    generator = torch.Generator().manual_seed(seed)
    t = torch.rand(n, generator=generator, dtype=torch.float64)
    t[7::7] = t[6:-1:7]
    noise = torch.randn(n, generator=generator, dtype=torch.float64)
    return t, torch.sin(9.0 * t) + 0.2 * noise


def _number(value: float, requires_grad: bool) -> Tensor:
    return torch.tensor(value, dtype=torch.float64, requires_grad=requires_grad)
