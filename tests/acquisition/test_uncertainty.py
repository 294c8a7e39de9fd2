"""The spread of a model that takes its observations for exact."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition.analytic import PosteriorStandardDeviation
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf

from bokern.acquisition import Uncertainty
from bokern.acquisition.uncertainty import QUIET, without_noise
from bokern.models import MixtureGP, StructuredGP

BOX = torch.tensor([[0.0, 0.0], [10.0, 10.0]], dtype=torch.double)


@pytest.mark.equivalence
def test_is_the_log_spread_of_a_model_with_little_known_noise(data, points):
    X, Y = data
    Y = (Y - Y.mean()) / Y.std()
    noisy = SingleTaskGP(X / 10, Y, torch.full_like(Y, 0.04)).eval()
    quiet = SingleTaskGP(X / 10, Y, torch.full_like(Y, QUIET)).eval()
    quiet.load_state_dict(noisy.state_dict())
    expected = PosteriorStandardDeviation(quiet)(points / 10).log()
    assert torch.allclose(Uncertainty(noisy)(points / 10), expected, rtol=1e-6)


def test_the_model_itself_is_left_as_it_was(model, points):
    before = model.posterior(points).variance
    noise = model.likelihood.noise.item()
    assert without_noise(model).likelihood.noise.item() < noise / 10
    assert model.likelihood.noise.item() == noise
    assert torch.allclose(model.posterior(points).variance, before)


@pytest.mark.parametrize("several", [False, True])
def test_a_point_seen_already_is_never_the_least_known(several):
    X = torch.tensor([[0.0], [0.4], [0.5], [1.0]], dtype=torch.double)
    Y = X.sin()
    one = StructuredGP(X, Y, outcome_transform=None, structure="Matern(2.5)")
    one.likelihood.noise = 0.5
    one.covar_module.base_kernel.raw_lengthscale.data.fill_(0.0)
    model = MixtureGP.from_members([one, one], [0.3, 0.7]) if several else one
    model.eval()
    grid = torch.linspace(0, 1, 101, dtype=torch.double).reshape(-1, 1, 1)
    spread = model.posterior(grid).variance.reshape(101, -1)[:, 0]
    assert int(spread.argmax()) in (0, 100)
    assert 0.55 < grid[Uncertainty(model)(grid).argmax()].item() < 0.95


def test_pending_points_count_as_seen(model, points):
    pending = points[:1, 0]
    free, seen = Uncertainty(model), Uncertainty(model, X_pending=pending)
    assert seen(points)[0] < free(points)[0] - 1.0
    torch.manual_seed(0)
    batch, _ = optimize_acqf(
        free, BOX, q=3, num_restarts=4, raw_samples=64, sequential=True
    )
    assert torch.pdist(batch).min() > 0.5
