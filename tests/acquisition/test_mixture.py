"""The acquisitions over weighted mixtures of structures."""

from __future__ import annotations

import pytest
import torch

from bokern.acquisition import GPUCB, FiniteSchedule, LogEI
from bokern.models import MixtureGP

SCHEDULE = FiniteSchedule(100)


@pytest.fixture
def mixture(data):
    # Quarters, so that equal slots represent the weights exactly.
    return MixtureGP(
        data[0] / 10, data[1], structures=["Matern(2.5)", "RBF()"], weights=[0.75, 0.25]
    ).eval()


@pytest.mark.oracle
@pytest.mark.parametrize("pending", [False, True])
def test_gp_ucb_is_the_weighted_mean_of_the_members(mixture, points, pending):
    points = points / 10
    X_pending = points[:2, 0] + 0.05 if pending else None
    bounds = [
        GPUCB(member, SCHEDULE, 7, X_pending=X_pending)(points)
        for member in mixture.members
    ]
    expected = 0.75 * bounds[0] + 0.25 * bounds[1]
    ours = GPUCB(mixture, SCHEDULE, 7, X_pending=X_pending)(points)
    assert torch.allclose(ours, expected, rtol=1e-8)


@pytest.mark.oracle
def test_log_ei_is_the_log_of_the_weighted_mean(mixture, points):
    points = points / 10
    first, second = (LogEI(m, 120.0)(points).exp() for m in mixture.members)
    ours = LogEI(mixture, 120.0)(points).exp()
    assert torch.allclose(ours, 0.75 * first + 0.25 * second, rtol=1e-8)


def test_pending_points_leave_the_weights_alone(mixture, points):
    before = mixture.weights.clone()
    GPUCB(mixture, SCHEDULE, 7, X_pending=points[:2, 0] / 10)(points / 10)
    assert torch.equal(mixture.weights, before)
