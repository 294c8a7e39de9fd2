"""Expectation propagation against orthant probabilities, quadrature and regression."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal, norm

from bokern.inference.propagation import (
    log_evidence,
    predictive_terms,
    probit_moments,
    propagate,
)


def prior(n, variance, seed=0, dim=2):
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, dim, generator=generator, dtype=torch.double)
    square = (X[:, None] - X[None]).square().sum(-1)
    K = variance * torch.exp(-square / (2.0 * 0.3**2))
    mean = 0.5 * torch.randn(n, generator=generator, dtype=torch.double)
    y = torch.where(torch.rand(n, generator=generator) < 0.6, 1.0, -1.0).double()
    return K, mean, y


def orthant(K, mean, y):
    """log P(y): that of normal variables to have given signs, noise 1 included."""
    flip = torch.diag(y)
    covariance = flip @ (K + torch.eye(len(y), dtype=K.dtype)) @ flip
    normal = multivariate_normal(
        (-y * mean).numpy(), covariance.numpy(), abseps=1e-8, releps=1e-8
    )
    return math.log(normal.cdf(np.zeros(len(y))))


@pytest.mark.parametrize("signs", list(itertools.product((-1.0, 1.0), repeat=3)))
@pytest.mark.parametrize(("variance", "allowed"), [(1, 1e-3), (4, 5e-3), (25, 1.5e-2)])
def test_the_evidence_of_signs_is_an_orthant_probability(variance, allowed, signs):
    X = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.3, 0.8]], dtype=torch.double)
    square = (X[:, None] - X[None]).square().sum(-1)
    K = variance * torch.exp(-square / (2.0 * 0.5**2))
    mean = torch.tensor([0.3, -0.2, 0.5], dtype=torch.double)
    y = torch.tensor(signs, dtype=torch.double)
    sites = propagate(K, mean, y)
    assert sites.converged
    assert log_evidence(K, mean, sites).item() == pytest.approx(
        orthant(K, mean, y), abs=allowed
    )


def test_close_points_of_opposite_signs_are_harder():
    """Where the approximation is worst: draws with close pairs among them."""
    worst = 0.0
    for seed in range(5):
        K, mean, y = prior(3, 4.0, seed)
        error = log_evidence(K, mean, propagate(K, mean, y)).item() - orthant(
            K, mean, y
        )
        worst = max(worst, abs(error))
    assert worst < 0.02


def test_one_observation_is_exact():
    K, mean, y = prior(1, 3.0)
    sites = propagate(K, mean, y)
    exact = norm.logcdf(float(y * mean) / math.sqrt(1.0 + 3.0))
    assert log_evidence(K, mean, sites).item() == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("variance", [0.3, 2.0, 20.0])
@pytest.mark.parametrize("mean", [-3.0, 0.2, 6.0])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_moments_of_the_probit_by_quadrature(y, mean, variance):
    nodes = np.linspace(-12.0, 12.0, 20_001) * math.sqrt(variance) + mean
    weight = norm.cdf(y * nodes) * norm.pdf(nodes, mean, math.sqrt(variance))
    mass = np.trapezoid(weight, nodes)
    first = np.trapezoid(weight * nodes, nodes) / mass
    second = np.trapezoid(weight * (nodes - first) ** 2, nodes) / mass
    arguments = (torch.tensor([v], dtype=torch.double) for v in (y, mean, variance))
    found = [v.item() for v in probit_moments(*arguments)]
    assert found == pytest.approx([math.log(mass), first, second], rel=1e-7, abs=1e-9)


def gaussian_moments(noise):
    """Moments of N(y; f, s) N(f; m, v)."""

    def moments(y, mean, variance):
        total = variance + noise
        log_mass = -0.5 * ((y - mean).square() / total + (2 * math.pi * total).log())
        share = variance / total
        return log_mass, mean + share * (y - mean), variance * (1.0 - share)

    return moments


def test_a_gaussian_likelihood_is_regression():
    K, mean, _ = prior(8, 2.0)
    y = mean + torch.linspace(-1.0, 1.0, 8, dtype=torch.double)
    noise = torch.full_like(y, 0.3)
    sites = propagate(K, mean, y, gaussian_moments(noise))
    total = K + torch.diag(noise)
    exact = torch.distributions.MultivariateNormal(mean, total).log_prob(y)
    assert log_evidence(K, mean, sites).item() == pytest.approx(exact.item(), abs=1e-7)
    assert sites.precision == pytest.approx(1.0 / noise, rel=1e-5)


def test_predictions_are_those_of_regression_on_the_sites():
    K, mean, y = prior(9, 2.0)
    sites = propagate(K, mean, y)
    weights, root = predictive_terms(K, mean, sites)
    total = K + torch.diag(1.0 / sites.precision)
    k = K[:, :4] * 0.9
    target = sites.shift / sites.precision - mean
    expected = torch.linalg.solve(total, target)
    assert k.T @ weights == pytest.approx(k.T @ expected, abs=1e-8)
    lost = (k * torch.linalg.solve(total, k)).sum(0)
    assert (root @ k).square().sum(0) == pytest.approx(lost, abs=1e-8)


def test_the_gradient_holds_the_sites_fixed_and_is_right():
    K, mean, y = prior(12, 2.0)

    def value(scale, shift):
        return log_evidence(
            scale * K, mean + shift, propagate(scale * K, mean + shift, y)
        )

    scale = torch.tensor(1.3, dtype=torch.double, requires_grad=True)
    shift = torch.tensor(0.2, dtype=torch.double, requires_grad=True)
    found = torch.autograd.grad(value(scale, shift), (scale, shift))
    with torch.no_grad():
        h = 1e-4
        expected = (
            (value(scale + h, shift) - value(scale - h, shift)) / (2 * h),
            (value(scale, shift + h) - value(scale, shift - h)) / (2 * h),
        )
    assert torch.stack(found) == pytest.approx(torch.stack(expected), abs=1e-5)


def test_batches_are_their_elements_and_a_start_changes_nothing():
    parts = [prior(7, v, seed) for seed, v in enumerate((0.5, 3.0, 10.0))]
    y = parts[0][2]
    K, mean = (torch.stack([p[i] for p in parts]) for i in (0, 1))
    together = propagate(K, mean, y)
    alone = [log_evidence(k, m, propagate(k, m, y)) for k, m, _ in parts]
    values = log_evidence(K, mean, together)
    assert values == pytest.approx(torch.stack(alone), abs=1e-6)
    again = propagate(1.1 * K, mean, y, start=together)
    afresh = propagate(1.1 * K, mean, y)
    assert log_evidence(1.1 * K, mean, again) == pytest.approx(
        log_evidence(1.1 * K, mean, afresh), abs=1e-6
    )
