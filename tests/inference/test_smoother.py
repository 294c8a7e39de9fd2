from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bokern.inference import Chain, MarkovPrior, Smoother, markov_prior
from bokern.inference import smoother as module
from tests.inference.series import (
    STRUCTURES,
    irregular,
    random_kernel,
    random_prior,
)

POSTERIOR = 1e-11
"""Conditioning on dozens of points of noise .01, by two factorisations."""

NOISE = 0.01


def smoother(prior: MarkovPrior, t: Tensor, y: Tensor, block: int = 4) -> Smoother:
    return Smoother(Chain(t, block), prior, y, torch.full_like(y, NOISE))


def dense(prior: MarkovPrior, t: Tensor, y: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    """Mean and covariance of the posterior, by the textbook."""

    def k(a: Tensor, b: Tensor) -> Tensor:
        return prior.covariance(a.unsqueeze(-1), b.unsqueeze(-2), 2)

    K = k(t, t) + NOISE * torch.eye(t.shape[-1]).to(t)
    gain = torch.linalg.solve(K, k(t, at)).mT
    return (gain @ y.unsqueeze(-1)).squeeze(-1), k(at, at) - gain @ k(t, at)


def places(t: Tensor) -> Tensor:
    """Points on both sides of the data, between them and on them, in no order."""
    ends = torch.stack([t.min(), t.max()])
    at = torch.cat([torch.linspace(-0.7, 1.8, 24).to(t), t[:3], t[:1], ends])
    return at[torch.randperm(len(at), generator=torch.Generator().manual_seed(0))]


@pytest.mark.oracle
@pytest.mark.parametrize("n", [1, 4, 5, 50])
@pytest.mark.parametrize("text", STRUCTURES)
def test_joint_moments_are_the_dense_ones(text, n):
    prior = random_prior(text, seed=n)
    t, y = irregular(n)
    at = places(t)
    found = smoother(prior, t, y).predict(at)
    for a, b in zip(found, dense(prior, t, y, at), strict=True):
        torch.testing.assert_close(a, b, rtol=POSTERIOR, atol=POSTERIOR)


@pytest.mark.equivalence
def test_batches_of_data_and_points_meet():
    series = [irregular(21, seed=i) for i in range(3)]
    t, y = (torch.stack(v) for v in zip(*series, strict=True))
    kernel = random_kernel("Matern(1.5) + Linear()", 2, 3)
    prior = markov_prior(kernel)
    at = places(t[0]).reshape(6, 1, 1, 5)
    mean, covariance = smoother(prior, t, y).predict(at)
    assert mean.shape == (6, 2, 3, 5)
    assert covariance.shape == (6, 2, 3, 5, 5)
    for i in range(2):
        for j in range(3):
            own = markov_prior(kernel[i, j])
            for k in range(6):
                expected = dense(own, t[j], y[j], at[k, 0, 0])
                found = mean[k, i, j], covariance[k, i, j]
                for a, b in zip(found, expected, strict=True):
                    torch.testing.assert_close(a, b, rtol=POSTERIOR, atol=POSTERIOR)


@pytest.mark.parametrize("text", ["Matern(2.5)", "Linear() + Matern(1.5)"])
def test_gradients_in_points_and_data(text):
    prior = random_prior(text)
    t, y = irregular(13)
    t = (t + 0.013 * torch.arange(13)).requires_grad_(True)
    y = y.requires_grad_(True)
    at = torch.tensor([-0.2, 0.31, 0.33, 0.9, 1.4]).double().requires_grad_(True)

    def predict(at: Tensor, t: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return smoother(prior, t, y).predict(at)

    assert torch.autograd.gradcheck(predict, (at, t, y), atol=1e-5)


@pytest.mark.equivalence
def test_pairs_in_pieces(monkeypatch):
    prior = random_prior("Matern(2.5)", 2)
    t, y = irregular(90)
    at = places(t).repeat(2, 1)
    whole = smoother(prior, t, y).predict(at)[1]
    monkeypatch.setattr(module, "PAIR_ELEMENTS", 1000)
    pieces = smoother(prior, t, y).predict(at)[1]
    torch.testing.assert_close(pieces, whole, rtol=0, atol=0)


def test_covariances_are_of_a_law_even_where_little_is_unknown():
    """Lengthscales far beyond the data: the posterior is all but a line."""
    prior = random_prior("Matern(2.5)")
    slow = [
        type(term)(term.variance, tuple((p, 1e-3 * rate) for p, rate in term.factors))
        for term in prior.terms
    ]
    prior = MarkovPrior(tuple(slow))
    t, y = irregular(400)
    at = torch.linspace(0.0, 1.0, 30, dtype=torch.float64)
    mean, covariance = smoother(prior, t, y, 16).predict(at)
    assert bool(torch.isfinite(mean).all())
    assert covariance.diagonal().min() > 0.0
    assert torch.linalg.eigvalsh(covariance).min() > -1e-12
    torch.testing.assert_close(covariance, covariance.mT)
