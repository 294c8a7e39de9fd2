from __future__ import annotations

import math

import pytest
import torch

import bokern
from bokern.errors import EvidenceError
from bokern.fitting import Curvature


class Bowl:
    """A log posterior with a Hessian of its own, under an independent normal prior."""

    def __init__(self, H, prior):
        self.H, self.prior = H, prior

    def hessian(self, theta):
        return -self.H

    def prior_hessian(self, theta):
        return -self.prior


def bowl():
    source = torch.Generator().manual_seed(0)
    A = torch.randn(3, 5, dtype=torch.float64, generator=source)
    prior = torch.tensor([0.5, 2.0, 1.0], dtype=torch.float64)
    return Bowl(A @ A.T + prior.diag(), prior.diag())


CENTRE = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)


@pytest.mark.oracle
def test_draws_have_the_inverse_hessian_as_covariance():
    objective = bowl()
    draws = Curvature.at(objective, CENTRE).draw(8192, seed=1)
    torch.testing.assert_close(draws.mean(0), CENTRE, rtol=0.0, atol=1e-3)
    expected = torch.linalg.inv(objective.H)
    torch.testing.assert_close(draws.T.cov(), expected, rtol=5e-3, atol=1e-3)


@pytest.mark.oracle
def test_the_log_determinant_is_that_of_the_hessian():
    objective = bowl()
    found = Curvature.at(objective, CENTRE)
    assert found.log_det == pytest.approx(torch.logdet(objective.H).item())
    assert (found.eigenvalues >= 1.0).all()


def test_no_draw_spreads_wider_than_the_prior():
    """Where the likelihood curves upwards, and where it is a saddle."""
    prior = torch.eye(3, dtype=torch.float64) * 4.0
    H = torch.diag(torch.tensor([-3.0, 0.1, 40.0], dtype=torch.float64))
    draws = Curvature.at(Bowl(H, prior), CENTRE).draw(4096, seed=0)
    spread = draws.std(0)
    torch.testing.assert_close(
        spread,
        torch.tensor([0.5, 0.5, 1 / math.sqrt(40.0)]).double(),
        rtol=0.02,
        atol=0,
    )


def test_a_seed_is_the_draws():
    found = Curvature.at(bowl(), CENTRE)
    assert torch.equal(found.draw(4, seed=3), found.draw(4, seed=3))
    assert not torch.equal(found.draw(4, seed=3), found.draw(4, seed=4))


def test_an_improper_prior_is_refused():
    objective = Bowl(torch.eye(3).double(), -torch.eye(3).double())
    with pytest.raises(EvidenceError, match="log-concave"):
        Curvature.at(objective, CENTRE)


@pytest.mark.oracle
def test_draws_of_a_model_are_likely_under_its_posterior():
    """Twice the loss of log posterior is χ² of k degrees where it is Gaussian."""
    source = torch.Generator().manual_seed(0)
    X = torch.rand(60, 2, dtype=torch.float64, generator=source)
    y = torch.sin(4 * X[:, 0]) + X[:, 1] ** 2
    y = y + 0.1 * torch.randn(60, dtype=torch.float64, generator=source)
    model = bokern.fit("Matern(2.5)", X, y, bounds=[(0.0, 1.0)] * 2)
    objective, theta = model.log_posterior(), model.theta()
    draws = Curvature.at(objective, theta).draw(256, seed=0)
    with torch.no_grad():
        loss = 2.0 * (objective(theta) - objective(draws))
    k = len(theta)
    assert loss.min() > 0
    assert loss.mean() == pytest.approx(k, rel=0.4)
