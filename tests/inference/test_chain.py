from __future__ import annotations

import math

import pytest
import torch
from torch.distributions import MultivariateNormal

from bokern.inference import Chain, markov_prior
from tests.inference.series import (
    STRUCTURES,
    irregular,
    prior_of,
    random_kernel,
    random_prior,
)
from tests.oracles.kalman import filtered_log_density, precise_log_density

SIZES = (1, 2, 15, 16, 17, 70)

EVIDENCE = 1e-10
"""Relative: what the design asks of the filter against dense covariances."""

CONDITION = 10 * 2.2e-16
"""Rounding of a covariance, in units of its variance over the noise's: what a dense
density loses too, where repeated inputs have targets that differ."""

MIXED = ((0.5, 0.3, 0.5), (1.5, 0.08, 1.4), (2.5, 1.1, 2.0))


def noises(n: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 0.01 + 0.2 * torch.rand(n, generator=generator, dtype=torch.float64)


def test_blocks_hold_every_observation_in_order():
    t, y = irregular(37)
    chain = Chain(t)
    assert chain.times.shape == chain.mask.shape == (3, 16)
    assert chain.mask.sum() == 37
    inside = chain.mask.bool()
    assert torch.equal(chain.times[inside], t.sort().values)
    assert torch.equal(chain.arrange(y)[inside], y[t.argsort(stable=True)])
    assert bool((chain.arrange(y, 7.0)[~inside] == 7.0).all())
    assert torch.equal(chain.start[1:], chain.stop[:-1])
    assert chain.start[0] == t.min()
    assert chain.stop[-1] == t.max()


@pytest.mark.oracle
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("text", STRUCTURES)
def test_the_density_is_the_dense_one(text, n):
    kernel = random_kernel(text, 3, seed=n)
    t, y = irregular(n)
    K = kernel.forward(t.unsqueeze(-1), t.unsqueeze(-1)) + torch.diag(noises(n))
    expected = MultivariateNormal(torch.zeros(n).double(), K).log_prob(y)
    found = Chain(t).log_likelihood(markov_prior(kernel), y, noises(n))
    torch.testing.assert_close(found, expected, rtol=EVIDENCE, atol=EVIDENCE)


@pytest.mark.oracle
@pytest.mark.parametrize("n", [500, 3000])
def test_the_density_is_that_of_a_sequential_filter(n):
    t, y = irregular(n)
    expected = filtered_log_density(t.numpy(), y.numpy(), noises(n).numpy(), MIXED)
    found = Chain(t).log_likelihood(prior_of(MIXED), y, noises(n))
    assert found.item() == pytest.approx(expected, rel=EVIDENCE)


@pytest.mark.oracle
@pytest.mark.parametrize("noise", [1e-6, 1e-4, 0.1])
@pytest.mark.parametrize("lengthscale", [1e-3, 0.05, 1.0, 1e3])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_extreme_scales_keep_their_digits(nu, lengthscale, noise):
    """Against arithmetic of 60 digits, with gaps from 0 to 0.1 in blocks of 4."""
    t, y = irregular(30)
    t = t.square()
    part = (nu, lengthscale, 1.7)
    expected = precise_log_density(t.tolist(), y.tolist(), noise, [part])
    prior = prior_of([part])
    found = Chain(t, 4).log_likelihood(prior, y, torch.full_like(y, noise))
    rounding = max(EVIDENCE, CONDITION * part[2] / noise)
    assert found.item() == pytest.approx(expected, rel=rounding)


@pytest.mark.equivalence
@pytest.mark.parametrize("block", [1, 3, 16, 64])
def test_blocks_of_any_size_agree(block):
    t, y = irregular(50)
    prior = random_prior("Linear() + Matern(2.5)", 2)
    expected = Chain(t, 100).log_likelihood(prior, y, noises(50))
    found = Chain(t, block).log_likelihood(prior, y, noises(50))
    torch.testing.assert_close(found, expected, rtol=EVIDENCE, atol=0)


@pytest.mark.equivalence
def test_batches_of_data_and_of_hyperparameters_meet():
    series = [irregular(40, seed=i) for i in range(3)]
    t, y = (torch.stack(v) for v in zip(*series, strict=True))
    prior = random_prior("Matern(1.5) * Matern(0.5)", 2, 3)
    noise = torch.stack([noises(40, i) for i in range(3)])
    found = Chain(t).log_likelihood(prior, y, noise)
    assert found.shape == (2, 3)
    single = random_prior("Matern(1.5) * Matern(0.5)", 2, 3)
    for i in range(3):
        alone = Chain(t[i]).log_likelihood(single, y[i], noise[i])
        torch.testing.assert_close(found[:, i], alone[:, i])


def test_order_does_not_matter():
    t, y = irregular(45)
    order = torch.randperm(45, generator=torch.Generator().manual_seed(3))
    prior = random_prior("Matern(2.5)")
    one = Chain(t).log_likelihood(prior, y, noises(45))
    other = Chain(t[order]).log_likelihood(prior, y[order], noises(45)[order])
    torch.testing.assert_close(one, other, rtol=EVIDENCE, atol=0)


@pytest.mark.parametrize("n", [5, 40])
def test_two_derivatives_in_everything(n):
    t, y = irregular(n)
    start = torch.tensor([-1.0, 0.3, 0.4, -2.0]).double().requires_grad_(True)

    def density(theta: torch.Tensor) -> torch.Tensor:
        kernel = random_kernel("Matern(2.5) + Linear()")
        prior = markov_prior(kernel)
        (first, second) = prior.terms
        matern = first if first.factors else second
        linear = second if first.factors else first
        scaled = type(matern)(
            theta[1].exp(), ((matern.factors[0][0], theta[0].exp().reciprocal()),)
        )
        moved = type(linear)(linear.variance, (), (theta[2],))
        prior = type(prior)((scaled, moved))
        return Chain(t, 8).log_likelihood(prior, y, theta[3].exp().expand(n))

    assert torch.autograd.gradcheck(density, start)
    assert torch.autograd.gradgradcheck(density, start)


def test_gradient_in_times_and_targets():
    t, y = irregular(20)
    t = (t + 0.01 * torch.arange(20)).requires_grad_(True)
    y = y.requires_grad_(True)
    prior = random_prior("Matern(1.5)")

    def density(t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return Chain(t, 4).log_likelihood(prior, y, noises(20))

    assert torch.autograd.gradcheck(density, (t, y))


def test_what_fails_is_minus_infinity_alone():
    t, y = irregular(20)
    noise = noises(20).repeat(3, 1)
    noise[1, 4] = -5.0
    noise[2, 0] = math.nan
    found = Chain(t).log_likelihood(random_prior("Matern(0.5)"), y, noise)
    assert torch.isfinite(found[0])
    assert found[1] == found[2] == -math.inf
