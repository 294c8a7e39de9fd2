"""Acquisitions counted as far as candidates are feasible."""

from __future__ import annotations

import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.optim import optimize_acqf

from bokern.acquisition import (
    GPUCB,
    ContinuousSchedule,
    Feasible,
    IntegratedVariance,
    LogEI,
    OutcomesFeasible,
)
from bokern.acquisition.feasible import likely_points

BOX = torch.tensor([[0.0, 0.0], [10.0, 10.0]], dtype=torch.double)


def left_half(X):
    """Log probability that falls from the left to the right."""
    return torch.nn.functional.logsigmoid(5.0 - X[..., 0])


@pytest.fixture
def grid():
    generator = torch.Generator().manual_seed(2)
    return 10.0 * torch.rand(64, 2, generator=generator, dtype=torch.double)


@pytest.fixture
def two_outcomes(data):
    X, Y = data
    models = [SingleTaskGP(X / 10, 0.01 * Y), SingleTaskGP(X / 10, X[:, :1] - 5)]
    return ModelListGP(*models).eval()


def test_a_logarithm_gains_the_log_probability(model, points, grid):
    base = LogEI(model, best_f=100.0)
    found = Feasible(base, [left_half], grid)(points)
    assert torch.equal(found, base(points) + left_half(points).squeeze(-1))


def test_an_amount_is_multiplied(model, points, grid):
    base = IntegratedVariance(model, grid)
    with torch.no_grad():
        one = Feasible(base, [], grid)(points)
        both = Feasible(base, [left_half, left_half], grid)(points)
    assert both - one == pytest.approx(2.0 * left_half(points).squeeze(-1))


def test_an_acquisition_without_a_zero_counts_from_its_lowest_value(model, grid):
    base = GPUCB(model, ContinuousSchedule(2), 7)
    with torch.no_grad():
        value = base(grid.unsqueeze(-2))
        found = Feasible(base, [], grid)(grid.unsqueeze(-2))
        ratio = (found[:-1] - found[-1]).exp()
        expected = (value[:-1] - value.min()) / (value[-1] - value.min())
        clear = value[:-1] > value.min() + 0.02 * (value.max() - value.min())
    assert ratio[clear] == pytest.approx(expected[clear], rel=1e-3)
    order = value.argsort()
    assert (found[order].diff() > 0.0).all()


def test_candidates_move_to_where_they_are_feasible(model, grid):
    torch.manual_seed(0)
    base = GPUCB(model, ContinuousSchedule(2), 7)
    free, _ = optimize_acqf(base, BOX, 1, num_restarts=4, raw_samples=64)

    def not_there(X):
        return -20.0 * torch.exp(-(X - free).square().sum(-1) / 8.0)

    found, _ = optimize_acqf(
        Feasible(base, [not_there], grid), BOX, 1, num_restarts=4, raw_samples=64
    )
    assert (found - free).norm() > 2.0


def test_pending_points_are_the_bases(model, points, grid):
    base = LogEI(model, best_f=100.0, seed=0)
    acquisition = Feasible(base, [left_half], grid)
    before = acquisition(points)
    acquisition.set_X_pending(points[0])
    assert torch.equal(base.X_pending, points[0])
    assert torch.equal(acquisition.X_pending, points[0])
    assert acquisition(points)[0] < before[0] - 1.0
    acquisition.set_X_pending(None)
    assert torch.equal(acquisition(points), before)


@pytest.mark.statistical
def test_the_probability_that_constraints_are_kept_by_sampling(two_outcomes, points):
    X = points.squeeze(-2) / 10
    A = torch.tensor([[0.0, 1.0], [-2.0, 0.5]], dtype=torch.double)
    b = torch.tensor([[0.4], [-1.8]], dtype=torch.double)
    found = OutcomesFeasible(two_outcomes, A, b)(X).exp()
    torch.manual_seed(0)
    with torch.no_grad():
        draws = two_outcomes.posterior(X.unsqueeze(-2)).rsample(torch.Size([40_000]))
        kept = (draws.squeeze(-2) @ A.mT <= b.squeeze(-1)).double()
    # Constraints count as independent: the product of their shares.
    expected = kept.mean(0).prod(-1)
    assert found.shape == (5,)
    assert (found - expected).abs().max() < 0.015
    assert found.max() - found.min() > 0.1


def test_batches_of_points_have_probabilities_each(two_outcomes, points):
    feasible = OutcomesFeasible(
        two_outcomes, torch.eye(2).double(), torch.zeros(2).double()
    )
    X = (points / 10).expand(5, 3, 2)
    assert feasible(X).shape == (5, 3)
    assert torch.allclose(feasible(X)[:, 1], feasible(X[:, 1]))


def test_points_that_are_rather_feasible_are_kept(grid):
    kept = likely_points(grid, [left_half], 20)
    assert (kept[:, 0] < 5.0).all()
    assert len(kept) == min(20, int((grid[:, 0] < 5.0).sum()))
    assert torch.equal(likely_points(grid, [], 20), grid[:20])


def test_where_hardly_any_is_the_likeliest_are(grid):
    kept = likely_points(grid, [lambda X: left_half(X) - 100.0], 40)
    assert len(kept) == 16
    assert kept[:, 0].max() <= grid[:, 0].sort().values[15]


def test_far_below_the_lowest_value_it_still_has_a_gradient(model, grid):
    base = GPUCB(model, ContinuousSchedule(2), 7)
    acquisition = Feasible(base, [], grid)
    acquisition._lowest += 5000.0 * acquisition._scale
    X = grid[:4].unsqueeze(-2).requires_grad_(True)
    value = acquisition(X)
    (gradient,) = torch.autograd.grad(value.sum(), X)
    assert value.isfinite().all()
    assert (value < -1000.0).all()
    assert gradient.isfinite().all()
    assert gradient.abs().max() > 0.0
