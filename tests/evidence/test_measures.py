from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from bokern.evidence import (
    bic,
    data_fingerprint,
    laplace,
    leave_one_out,
    plug_in,
    symmetry_divergence,
)
from tests.evidence.data import model_of, move, observations
from tests.tolerances import SUMS

STRUCTURES = ["RBF()", "Kumaraswamy(Matern(1.5))", "Invariant(RBF(), swap(0, 1))"]


def dense_law(model, X, y, standardize: bool, noise: float | None):
    """Mean and covariance of the raw targets at the model's θ."""
    s = y.std().item() if standardize else 1.0
    offset = y.mean().item() if standardize else 0.0
    K = model.covar_module(X).to_dense().detach().numpy()
    variance = model.likelihood.noise.mean().item() if noise is None else noise / s**2
    covariance = s**2 * (K + variance * np.eye(len(y)))
    return np.full(len(y), offset + s * model.mean_module.constant.item()), covariance


@pytest.fixture(params=[(True, None), (True, 0.3), (False, None)], ids=str)
def case(request):
    standardize, noise = request.param
    X, y = observations(12)

    def build(structure: str):
        model = move(model_of(structure, X, y, noise, standardize))
        return model, y.numpy(), *dense_law(model, X, y, standardize, noise)

    return build


@pytest.mark.oracle
@pytest.mark.parametrize("structure", STRUCTURES)
def test_plug_in_and_bic(case, structure):
    model, y, mean, covariance = case(structure)
    expected = stats.multivariate_normal(mean, covariance).logpdf(y)
    assert plug_in(model) == pytest.approx(expected, rel=SUMS)
    k = model.log_posterior().dim
    penalty = 0.5 * k * math.log(len(y))
    assert bic(model) == pytest.approx(expected - penalty, rel=SUMS)


@pytest.mark.oracle
@pytest.mark.parametrize("structure", STRUCTURES)
def test_leave_one_out_by_leaving_one_out(case, structure):
    model, y, mean, covariance = case(structure)
    result = leave_one_out(model)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        gain = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
        centre = mean[i] + gain @ (y - mean)[rest]
        variance = covariance[i, i] - gain @ covariance[rest, i]
        assert result.mean[i].item() == pytest.approx(centre, rel=1e-8)
        assert result.variance[i].item() == pytest.approx(variance, rel=1e-8)
        density = stats.norm(centre, math.sqrt(variance)).logpdf(y[i])
        assert result.log_density[i].item() == pytest.approx(density, rel=1e-8)


# -- fingerprints ------------------------------------


def test_the_fingerprint_knows_the_data_and_nothing_else():
    # With a tie at eight digits that standardising and back would break.
    X, y = observations(seed=1)
    y = (y * 1e7).round() / 1e7 + 5e-8
    y[0] = 0.0
    plain = data_fingerprint(model_of("RBF()", X, y))
    assert data_fingerprint(model_of("Matern(2.5)", X, y, noise=0.1)) == plain
    assert data_fingerprint(model_of("RBF()", X, y, standardize=False)) == plain
    assert data_fingerprint(model_of("RBF()", X, y).fit()) == plain
    for change in (0, 1):
        other_X, other_y = X.clone(), y.clone()
        (other_X[3], other_y[3:4])[change][0] += 1e-5
        assert data_fingerprint(model_of("RBF()", other_X, other_y)) != plain
    assert data_fingerprint(model_of("RBF()", X.flip(0), y)) != plain


# -- blindness ------------------------------------


def design(seed: int, one_sided: bool) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(600, 2, generator=generator, dtype=torch.float64)
    if one_sided:
        X = X[X[:, 0] - X[:, 1] >= 0.3]
    return X[:30]


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("one_sided", [True, False])
def test_one_sided_designs_are_blind_and_full_ones_are_not(seed, one_sided):
    X = design(seed, one_sided)
    y = torch.sin(4.0 * X.sum(-1)) + 2.0 * X.prod(-1)
    y = y + 0.05 * torch.randn(30, generator=torch.Generator().manual_seed(seed))
    symmetric = model_of("Invariant(RBF(), swap(0, 1))", X, y, starts=3).fit()
    divergence = symmetry_divergence(symmetric)
    flags = laplace(symmetric).flags
    assert divergence is not None
    assert (divergence < 1.0) is one_sided
    assert ("BLIND" in flags) is one_sided
    plain = model_of("RBF()", X, y, starts=3).fit()
    assert symmetry_divergence(plain) is None
    assert "BLIND" not in laplace(plain).flags


@pytest.mark.oracle
def test_divergence_is_that_of_two_normals():
    X, y = observations(8)
    model = move(model_of("Invariant(RBF(), swap(0, 1))", X, y))
    plain = move(model_of("RBF()", X, y))
    kernel = model.covar_module.base_kernel.base_kernel
    theta = model.log_posterior().get()
    wide = torch.cat([theta[:3], theta[2:]])  # one tied lengthscale for two
    plain.log_posterior().set(wide)
    assert kernel.lengthscale.unique().numel() == 1
    noise = model.likelihood.noise.item() * np.eye(8)
    A, B = (
        m.covar_module(X).to_dense().detach().numpy() + noise for m in (model, plain)
    )
    inner = np.trace(np.linalg.solve(B, A)) - 8.0
    logdet = np.linalg.slogdet(B)[1] - np.linalg.slogdet(A)[1]
    assert symmetry_divergence(model) == pytest.approx(0.5 * (inner + logdet), rel=1e-8)
