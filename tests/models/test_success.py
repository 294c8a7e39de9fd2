"""Where evaluations succeed, learned from successes and failures."""

from __future__ import annotations

import math
import pickle

import pytest
import torch

from bokern.errors import DataError
from bokern.models import SuccessGP
from bokern.models.success import ProbitLogPosterior


def points(n, dim, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, dim, generator=generator, dtype=torch.double)


@pytest.mark.parametrize("dim", [1, 3, 6])
def test_half_a_box_is_found_in_any_dimension(dim):
    X = points(60, dim)
    model = SuccessGP(X, X[:, 0] < 0.6)
    Z = points(500, dim, seed=1)
    probability = model.log_probability(Z).exp().detach()
    right = (probability > 0.5) == (Z[:, 0] < 0.6)
    assert right.double().mean() > 0.95
    clear = (Z[:, 0] - 0.6).abs() > 0.2
    surprise = torch.where(Z[:, 0] < 0.6, probability, 1.0 - probability)[clear]
    assert surprise.min() > 0.5


def test_columns_that_do_not_matter_get_long_lengthscales():
    X = points(80, 3)
    model = SuccessGP(X, X[:, 1] < 0.5)
    lengthscale = model.covar_module.base_kernel.lengthscale.flatten()
    assert lengthscale[1] < 0.3 * lengthscale[[0, 2]].min()


def test_far_from_all_that_is_known_it_is_the_prior():
    X = 0.02 * points(10, 2)
    model = SuccessGP(X, torch.arange(10) % 2 == 0, structure="Matern(0.5)")
    model.covar_module.base_kernel.raw_lengthscale.data.fill_(math.log(0.01))
    mean, variance = model.latent(torch.ones(1, 2))
    assert mean.item() == pytest.approx(model.mean_module.constant.item(), abs=1e-6)
    own = model.covar_module.forward(X[:1], X[:1], diag=True)
    assert variance.item() == pytest.approx(own.item(), rel=1e-6)


def test_one_failure_lowers_the_probability_most_where_it_was():
    X = torch.cat([points(9, 2), torch.tensor([[0.9, 0.9]])]).double()
    model = SuccessGP(X, torch.arange(10) < 9)
    there, near, far = model.log_probability(
        torch.tensor([[0.9, 0.9], [0.8, 0.9], [0.1, 0.1]])
    ).exp()
    assert there < near < far
    assert far > 0.7


def test_the_latent_moments_of_one_observation_by_quadrature():
    model = SuccessGP(torch.tensor([[0.3]]), torch.tensor([True]))
    x = torch.tensor([[0.8]], dtype=torch.double)
    k = model.covar_module.forward
    own, cross = (k(a, model.X).item() for a in (model.X, x))
    m = model.mean_module.constant.item()
    f = torch.linspace(-10, 10, 40_001, dtype=torch.double) * math.sqrt(own) + m
    weight = torch.special.ndtr(f) * torch.exp(-0.5 * (f - m).square() / own)
    weight = weight / weight.sum()
    first = (weight * f).sum()
    second = (weight * (f - first).square()).sum()
    slope = cross / own
    expected = (m + slope * (first - m), own - slope**2 * (own - second))
    mean, variance = model.latent(x)
    assert mean.item() == pytest.approx(float(expected[0]), abs=1e-5)
    assert variance.item() == pytest.approx(float(expected[1]), abs=1e-5)


def test_the_gradient_of_the_objective_is_that_of_its_values():
    X = points(25, 2)
    y = torch.where(X[:, 0] < 0.6, 1.0, -1.0).double()
    fitted = SuccessGP(X, y > 0)
    objective = ProbitLogPosterior(fitted.mean_module, fitted.covar_module, X, y)
    theta = objective.get() + 0.3
    value, gradient = objective.value_and_gradient(theta.unsqueeze(0))
    assert value.item() == pytest.approx(objective(theta).item(), abs=1e-6)
    steps = 1e-4 * torch.eye(objective.dim, dtype=torch.double)
    with torch.no_grad():
        slopes = [(objective(theta + s) - objective(theta - s)) / 2e-4 for s in steps]
    assert gradient[0].detach() == pytest.approx(torch.stack(slopes), abs=1e-4)


def test_it_takes_batches_and_float32_has_gradients_and_is_stored():
    X = points(30, 2).float()
    model = SuccessGP(X, X[:, 0] < 0.5)
    Z = points(12, 2).reshape(3, 4, 2).float().requires_grad_(True)
    value = model.log_probability(Z)
    assert value.shape == (3, 4)
    (gradient,) = torch.autograd.grad(value.sum(), Z)
    assert gradient[..., 0].abs().min() > 0.0
    copy = pickle.loads(pickle.dumps(model))
    assert torch.equal(copy.log_probability(Z), value)
    again = model.log_probability(Z[0]).detach()
    assert again == pytest.approx(value[0].detach(), abs=1e-9)


@pytest.mark.parametrize(
    ("X", "success", "words"),
    [
        (torch.zeros(0, 2), torch.zeros(0), "n >= 1"),
        (torch.zeros(3, 2), torch.ones(2), r"\(3, 2\) and \(2,\)"),
        (torch.zeros(3), torch.ones(3), "n x d"),
        (torch.full((3, 2), math.nan), torch.ones(3), "finite"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(X, success, words):
    with pytest.raises(DataError, match=words):
        SuccessGP(X, success)
