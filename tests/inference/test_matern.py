from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from scipy.linalg import expm

from bokern.inference import matern
from tests.oracles.kalman import stochastic_equation
from tests.tolerances import ROUNDING

ORDERS = (0, 1, 2)
GAPS = torch.tensor([0.0, 1e-8, 1e-3, 0.2, 0.499, 0.501, 1.7, 30.0]).double()


def original(order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Drift, stationary covariance and its root, of unit rate and variance."""
    nu = order + 0.5
    drift, stationary = stochastic_equation((nu, math.sqrt(2.0 * nu), 1.0))
    return drift, stationary, np.linalg.cholesky(stationary)


@pytest.mark.oracle
@pytest.mark.parametrize("order", ORDERS)
def test_transitions_are_matrix_exponentials(order):
    drift, _, root = original(order)
    for u in GAPS:
        A = root @ matern.transition(u, order).numpy() @ np.linalg.inv(root)
        np.testing.assert_allclose(A, expm(drift * u.item()), rtol=0, atol=ROUNDING)


@pytest.mark.oracle
@pytest.mark.parametrize("order", ORDERS)
def test_the_first_component_has_the_matern_correlation(order):
    r = GAPS
    expected = torch.exp(-r) * (1 + r * (order > 0) + r.square() / 3 * (order > 1))
    torch.testing.assert_close(matern.correlation(r, order), expected)
    first = matern.transition(r, order)[..., 0, 0]
    torch.testing.assert_close(first, expected, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("order", ORDERS)
def test_the_law_is_stationary(order):
    A, Q = matern.transition(GAPS, order), matern.noise(GAPS, order)
    eye = torch.eye(order + 1, dtype=torch.float64).expand_as(A)
    torch.testing.assert_close(A @ A.mT + Q, eye, rtol=0, atol=ROUNDING)
    torch.testing.assert_close(matern.noise_column(GAPS, order), Q[..., 0])
    assert torch.equal(Q[0], torch.zeros_like(Q[0]))


@pytest.mark.oracle
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("u", [1e-9, 1e-4, 0.3, 0.49, 0.51, 2.0])
def test_noise_keeps_its_digits_over_small_gaps(order, u):
    """Against 1 − Σ A² in arithmetic of 80 digits; 1e-45 for ν = 5/2 at the least."""
    found = matern.noise(torch.tensor(u, dtype=torch.float64), order)[0, 0].item()
    with mpmath.workdps(80):
        v = mpmath.mpf(u)
        row = {
            0: [1],
            1: [1 + v, v],
            2: [1 + v + v * v / 3, (v + v * v) / mpmath.sqrt(3), _third(v)],
        }[order]
        exact = 1 - mpmath.exp(-2 * v) * sum(mpmath.mpf(a) ** 2 for a in row)
    assert found == pytest.approx(float(exact), rel=1e-12, abs=0.0)


def _third(v: mpmath.mpf) -> mpmath.mpf:
    """(v²/2) times the standard deviation of f'' given f, √(1 − 1/9)."""
    return v * v / 2 * mpmath.sqrt(mpmath.mpf(8) / 9)


@pytest.mark.parametrize("order", ORDERS)
def test_two_derivatives(order):
    u = torch.tensor([0.0, 1e-3, 0.3, 0.9, 2.0]).double().requires_grad_(True)

    def everything(u: torch.Tensor) -> tuple[torch.Tensor, ...]:
        u = u.square()
        return (
            matern.transition(u, order),
            matern.noise(u, order),
            matern.correlation(u, order),
        )

    assert torch.autograd.gradcheck(everything, u)
    assert torch.autograd.gradgradcheck(everything, u)
