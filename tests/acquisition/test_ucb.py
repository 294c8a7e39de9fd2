"""GP-UCB by hand, with pending points by dense algebra, and over ensembles."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition.analytic import UpperConfidenceBound
from botorch.acquisition.objective import (
    ScalarizedPosteriorTransform,
)
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Log, Normalize
from botorch.optim import optimize_acqf

from bokern.acquisition import GPUCB, ContinuousSchedule, FiniteSchedule
from bokern.errors import SpaceError
from tests.acquisition.dense import dense_moments

SCHEDULE = FiniteSchedule(100)
MINIMISE = ScalarizedPosteriorTransform(torch.tensor([-1.0], dtype=torch.double))


@pytest.mark.oracle
def test_is_mean_plus_root_beta_times_sd(model, points):
    posterior = model.posterior(points)
    mean, sd = posterior.mean.flatten(), posterior.variance.sqrt().flatten()
    root = SCHEDULE.beta(7) ** 0.5
    assert torch.allclose(GPUCB(model, SCHEDULE, 7)(points), mean + root * sd)
    lower = GPUCB(model, SCHEDULE, 7, posterior_transform=MINIMISE)(points)
    assert torch.allclose(lower, -(mean - root * sd))


@pytest.mark.equivalence
def test_is_botorchs_bound_without_pending_points(model, points):
    ours = GPUCB(model, ContinuousSchedule(2), 7)
    theirs = UpperConfidenceBound(model, beta=ContinuousSchedule(2).beta(7))
    assert torch.equal(ours(points), theirs(points))


@pytest.mark.oracle
@pytest.mark.parametrize("count", [1, 3])
def test_pending_points_by_dense_algebra(model, data, points, count):
    pending = points[:count, 0] + 0.3
    noise = model.likelihood.noise.item()
    mean, sd = dense_moments(model, data, pending, points[:, 0], noise)
    assert torch.allclose(mean, model.posterior(points).mean.flatten())
    acquisition = GPUCB(model, SCHEDULE, 7, X_pending=pending)
    expected = mean + SCHEDULE.beta(7) ** 0.5 * sd
    assert torch.allclose(acquisition(points), expected, rtol=1e-9)


@pytest.mark.equivalence
def test_pending_points_equal_conditioning_with_fixed_noise(data, points):
    X, Y = data
    model = SingleTaskGP(X / 10, (Y - Y.mean()) / Y.std(), torch.full_like(Y, 0.04))
    model.eval()
    pending, points = points[:2, 0] / 10, points / 10 + 0.02
    values = model.posterior(pending).mean
    conditioned = model.condition_on_observations(
        pending, values, noise=torch.full_like(values, 0.04)
    )
    expected = UpperConfidenceBound(conditioned, beta=SCHEDULE.beta(7))(points)
    ours = GPUCB(model, SCHEDULE, 7, X_pending=pending)(points)
    assert torch.allclose(ours, expected, rtol=1e-6)


def test_pending_points_keep_candidates_away(model):
    bounds = torch.tensor([[0.0, 0.0], [10.0, 10.0]], dtype=torch.double)
    torch.manual_seed(0)
    acquisition = GPUCB(model, SCHEDULE, 7)
    batch, _ = optimize_acqf(
        acquisition, bounds, q=3, num_restarts=4, raw_samples=64, sequential=True
    )
    assert torch.pdist(batch).min() > 0.1
    assert acquisition.X_pending is None


def test_removing_pending_points_restores_the_bound(model, points):
    acquisition = GPUCB(model, SCHEDULE, 7)
    before = acquisition(points)
    acquisition.set_X_pending(points[:2, 0])
    assert (acquisition(points) < before).any()
    acquisition.set_X_pending(None)
    assert torch.equal(acquisition(points), before)


def test_duplicate_and_observed_pending_points(model, points):
    seen = model.train_inputs[0][:1]
    acquisition = GPUCB(model, SCHEDULE, 7, X_pending=seen.repeat(4, 1))
    assert torch.isfinite(acquisition(points)).all()


def test_gradient_with_pending_points(model, points):
    acquisition = GPUCB(model, SCHEDULE, 7, MINIMISE, X_pending=points[:2, 0] + 0.3)
    X = points.clone().requires_grad_()
    assert torch.autograd.gradcheck(acquisition, (X,), atol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("pending", [False, True])
def test_ensemble_is_the_mean_of_its_members(ensemble, points, pending):
    points = points / 10
    X_pending = points[:2, 0] + 0.05 if pending else None
    root = SCHEDULE.beta(7) ** 0.5
    bounds = []
    for member in range(3):
        where = (
            points
            if X_pending is None
            else torch.cat([points, X_pending.expand(5, 2, 2)], dim=-2)
        )
        joint = ensemble.posterior(where).distribution
        K = joint.covariance_matrix[:, member]
        mean = joint.mean[:, member, 0]
        variance = K[:, 0, 0]
        if pending:
            s = ensemble.outcome_transform.stdvs[member].squeeze() ** 2
            noise = ensemble.likelihood.noise[member] * s
            Kpp = K[:, 1:, 1:] + noise * torch.eye(2)
            kp = K[:, 1:, :1]
            variance = variance - (kp * torch.linalg.solve(Kpp, kp)).sum((-2, -1))
        bounds.append(mean + root * variance.sqrt())
    expected = torch.stack(bounds).mean(0)
    ours = GPUCB(ensemble, SCHEDULE, 7, X_pending=X_pending)(points)
    assert torch.allclose(ours, expected, rtol=1e-8)


def test_several_outputs_through_a_posterior_transform(data, points):
    X, Y = data
    models = ModelListGP(SingleTaskGP(X / 10, Y), SingleTaskGP(X / 10, Y.square()))
    transform = ScalarizedPosteriorTransform(torch.tensor([1.0, 0.0]).double())
    alone = GPUCB(models.models[0], SCHEDULE, 7, X_pending=points[:1, 0] / 10)
    first = GPUCB(models, SCHEDULE, 7, transform, X_pending=points[:1, 0] / 10)
    assert torch.allclose(alone(points / 10), first(points / 10), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning")
def test_single_precision(model, points):
    X, Y = model.train_inputs[0].float(), model.train_targets.float().unsqueeze(-1)
    bounds = torch.tensor([[0.0, 0.0], [10.0, 10.0]])
    single = SingleTaskGP(
        X, Y, input_transform=Normalize(2, bounds=bounds), outcome_transform=None
    )
    acquisition = GPUCB(single, SCHEDULE, 7, X_pending=points[:2, 0].float())
    assert acquisition(points.float()).dtype == torch.float32


@pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning")
def test_a_posterior_that_is_not_gaussian_is_refused(data, points):
    model = SingleTaskGP(data[0] / 10, data[1], outcome_transform=Log())
    with pytest.raises(SpaceError, match="needs a Gaussian posterior"):
        GPUCB(model, SCHEDULE, 7, X_pending=points[0] / 10)
    # A posterior transform meets it first, with a message of its own.
    for pending in (None, points[0] / 10):
        with pytest.raises(SpaceError, match="needs a Gaussian posterior: use an"):
            GPUCB(model, SCHEDULE, 7, posterior_transform=MINIMISE, X_pending=pending)(
                points / 10
            )


def test_needs_an_observation(model):
    with pytest.raises(SpaceError, match="counts observations from 1"):
        GPUCB(model, SCHEDULE, 0)
