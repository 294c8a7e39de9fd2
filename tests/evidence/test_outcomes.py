"""Evidence under outcome transforms, in nats of the raw targets."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from botorch.models.transforms.outcome import Log, Standardize
from scipy import stats
from torch import Tensor

import bokern
from bokern.errors import EvidenceError, InputError
from bokern.evidence import (
    bic,
    data_fingerprint,
    laplace,
    leave_one_out,
    log_jacobian,
    plug_in,
)
from bokern.models import StructuredGP
from bokern.models.outcome import outcome_transform
from bokern.models.outcome_steps import log_slopes
from tests.evidence.data import move, observations
from tests.tolerances import SUMS

TEXTS = ("log", "yeo-johnson(0.3)", "yeo-johnson(2)")

REFITTED = 1e-6
INTEGRATION = 1e-6
"""Trapezoids over 1e5 steps of a bell whose ends are cut at 12 standard deviations."""

MOMENTS = 2e-4
"""Gauss-Hermite with 64 nodes."""


def data(n: int = 15) -> tuple[Tensor, Tensor]:
    X, y = observations(n)
    return X, (y / 3.0).exp()


def under(text: str, X: Tensor, y: Tensor, **options) -> StructuredGP:
    return StructuredGP(
        X,
        y.unsqueeze(-1),
        structure="RBF()",
        outcome_transform=outcome_transform(text, y, standardize=True),
        starts=3,
        **options,
    )


def by_scipy(text: str, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transformed targets before they are z-scored, and the log slopes."""
    if text == "log":
        return np.log(y), -np.log(y)
    power = float(text.removeprefix("yeo-johnson(").removesuffix(")"))
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    scale = (high - low) / 1.349
    u = (y - middle) / scale
    slope = np.sign(u) * (power - 1.0) * np.log1p(np.abs(u)) - math.log(scale)
    return stats.yeojohnson(u, power), slope


# -- the Jacobian ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
def test_the_jacobian_is_scipys(text):
    X, y = data()
    T, slope = by_scipy(text, y.numpy())
    expected = slope.sum() - len(y) * math.log(T.std(ddof=1))
    assert log_jacobian(under(text, X, y)) == pytest.approx(expected, rel=SUMS)


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
def test_evidence_is_that_of_targets_transformed_by_hand(text):
    X, y = data()
    T, slope = by_scipy(text, y.numpy())
    inside = laplace(under(text, X, y).fit())
    outside = laplace(under("identity", X, torch.from_numpy(T)).fit())
    gap = slope.sum()
    assert inside.log_evidence == pytest.approx(
        outside.log_evidence + gap, abs=REFITTED
    )
    assert inside.bic == pytest.approx(outside.bic + gap, abs=REFITTED)
    assert inside.leave_one_out == pytest.approx(
        outside.leave_one_out + gap, abs=REFITTED
    )
    assert inside.log_jacobian == pytest.approx(outside.log_jacobian + gap)
    assert inside.flags == outside.flags


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
def test_the_likelihood_is_a_density_of_raw_targets(text):
    """Of one of two targets, integrated over all values it could have had."""
    X, y = data(2)
    last = under(text, X, y)
    objective = move(last).log_posterior(use_prior=False)
    theta = objective.get()
    with torch.no_grad():
        mean, K, noise = objective.moments(theta)
    law = stats.norm(mean[0].item(), math.sqrt((K[0, 0] + noise[0]).item()))
    z = np.linspace(*(law.mean() + law.std() * np.array([-12.0, 12.0])), 100_001)
    transform = last.outcome_transform.eval()
    Y = transform.untransform(torch.from_numpy(z).unsqueeze(-1))[0]
    density = law.pdf(z) * log_slopes(transform, Y).exp().squeeze(-1).numpy()
    total = np.trapezoid(density, Y.squeeze(-1).numpy())
    assert total == pytest.approx(1.0, abs=INTEGRATION)


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
def test_plug_in_and_bic(text):
    X, y = data()
    model = move(under(text, X, y))
    T, slope = by_scipy(text, y.numpy())
    s = T.std(ddof=1)
    K = model.covar_module(X).to_dense().detach().numpy()
    covariance = K + model.likelihood.noise.item() * np.eye(len(y))
    mean = np.full(len(y), model.mean_module.constant.item())
    law = stats.multivariate_normal(mean, covariance)
    expected = law.logpdf((T - T.mean()) / s) + slope.sum() - len(y) * math.log(s)
    assert plug_in(model) == pytest.approx(expected, rel=SUMS)
    penalty = 0.5 * model.log_posterior().dim * math.log(len(y))
    assert bic(model) == pytest.approx(expected - penalty, rel=SUMS)


# -- leave-one-out ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
def test_leave_one_out_by_leaving_one_out(text):
    X, y = data(10)
    model = move(under(text, X, y))
    T, slope = by_scipy(text, y.numpy())
    m, s = T.mean(), T.std(ddof=1)
    covariance = model.covar_module(X).to_dense().detach().numpy()
    covariance = covariance + model.likelihood.noise.item() * np.eye(len(y))
    constant = model.mean_module.constant.item()
    z = (T - m) / s
    result = leave_one_out(model)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        gain = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
        centre = constant + gain @ (z - constant)[rest]
        sd = math.sqrt(covariance[i, i] - gain @ covariance[rest, i])
        density = stats.norm(centre, sd).logpdf(z[i]) + slope[i] - math.log(s)
        assert result.log_density[i].item() == pytest.approx(density, rel=1e-8)
        assert result.residual[i].item() == pytest.approx((z[i] - centre) / sd)
        if text == "log":
            raw = stats.lognorm(s * sd, scale=math.exp(m + s * centre))
            assert result.mean[i].item() == pytest.approx(raw.mean())
            assert result.variance[i].item() == pytest.approx(raw.var())
        else:
            grid = np.linspace(centre - 14.0 * sd, centre + 14.0 * sd, 200_001)
            share = stats.norm(centre, sd).pdf(grid) * (grid[1] - grid[0])
            values = torch.from_numpy(grid).unsqueeze(-1)
            raw = model.outcome_transform.untransform(values)[0].numpy().ravel()
            expected = share @ raw
            spread = math.sqrt(share @ (raw - expected) ** 2)
            assert abs(result.mean[i].item() - expected) < MOMENTS * spread
            assert result.variance[i].item() == pytest.approx(spread**2, rel=MOMENTS)


# -- comparing ------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_transforms_compare(text):
    X, y = data()
    plain, other = (under(t, X, y).fit() for t in ("identity", text))
    assert data_fingerprint(plain) == data_fingerprint(other)
    difference = laplace(other) - laplace(plain)
    expected = laplace(other).log_evidence - laplace(plain).log_evidence
    assert difference == pytest.approx(expected)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("factor", [1e-12, 1e9])
def test_units_of_y(text, factor):
    X, y = data()
    plain, scaled = (
        laplace(bokern.fit("RBF()", X, v, outcome=text, starts=2))
        for v in (y, factor * y)
    )
    gap = len(y) * math.log(factor)
    assert scaled.log_evidence + gap == pytest.approx(plain.log_evidence, abs=1e-6)
    assert scaled.leave_one_out + gap == pytest.approx(plain.leave_one_out, abs=1e-5)


@pytest.mark.parametrize("text", TEXTS)
def test_known_noise_is_refused(text):
    X, y = data()
    with pytest.raises(InputError, match="leave the noise to be inferred"):
        bokern.fit("RBF()", X, y, noise=0.1, outcome=text)


def test_known_noise_through_log_has_no_evidence():
    X, y = data()
    Y = y.unsqueeze(-1)
    model = StructuredGP(X, Y, 0.01 * Y, outcome_transform=Log(), starts=1)
    with pytest.raises(EvidenceError, match="infer the noise"):
        laplace(model.fit())


def test_an_own_kind_of_standardize_is_refused():
    class Halved(Standardize):
        pass

    X, y = data()
    model = StructuredGP(X, y.unsqueeze(-1), outcome_transform=Halved(1))
    with pytest.raises(EvidenceError, match="Jacobian of Halved is not known"):
        log_jacobian(model)
