"""Frequencies against the covariances that they are drawn from."""

from __future__ import annotations

import math

import pytest
import torch
from scipy import special, stats

from bokern.spectral import SPECTRA, Frequencies, unit_frequencies

NUS = (0.5, 1.5, 2.5)


def points(n, dim, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, dim, generator=generator, dtype=torch.float64)


def covariance(spectrum, nu, difference):
    """By the Bessel function, not by the closed forms of half-integer smoothness."""

    def matern(r):
        s = math.sqrt(2.0 * nu) * r.clamp_min(1e-10).numpy()
        return torch.from_numpy(
            2.0 ** (1.0 - nu) / special.gamma(nu) * s**nu * special.kv(nu, s)
        )

    if spectrum == "rbf":
        return torch.exp(-0.5 * difference.square().sum(-1))
    if spectrum == "matern":
        return matern(difference.norm(dim=-1))
    return matern(difference.abs()).prod(-1)


@pytest.mark.oracle
@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("quasi", [True, False])
def test_the_mean_cosine_is_the_covariance(spectrum, nu, quasi):
    """Within what the mean over so many frequencies may be off by, in 3-D.

    Sobol points gain less where the frequencies have no moments.
    """
    difference = 2.0 * points(40, 3) - 1.0
    drawn = Frequencies(spectrum, nu, 2**14, 3, seed=1, quasi=quasi)
    found = drawn.correlation(difference)
    expected = covariance(spectrum, nu, difference)
    independent = 4.5 / math.sqrt(2.0 * 2**14)
    worst = independent / (6.0 if nu > 0.5 else 2.0) if quasi else independent
    assert (found - expected).abs().max() < worst
    assert (expected.max() - expected.min()) > 0.3


@pytest.mark.oracle
def test_smoothness_three_halves_and_not_one():
    """At half a lengthscale; the published code has .7319, of ν = 1."""
    drawn = Frequencies("matern", 1.5, 2**16, 1)
    half = torch.tensor([[0.5]], dtype=torch.float64)
    assert drawn.correlation(half).item() == pytest.approx(0.7849, abs=2e-4)


@pytest.mark.statistical
def test_the_error_falls_by_the_root_for_independent_draws_and_faster_for_sobol():
    difference = points(60, 2, seed=3)
    expected = covariance("matern", 2.5, difference)

    def error(count, quasi):
        drawn = (Frequencies("matern", 2.5, count, 2, s, quasi) for s in range(20))
        errors = [(d.correlation(difference) - expected).square().mean() for d in drawn]
        return torch.stack(errors).mean().sqrt().item()

    independent = error(64, False) / error(1024, False)
    assert 2.8 < independent < 5.6
    assert error(64, True) / error(1024, True) > independent
    assert error(1024, True) < 0.4 * error(1024, False)


@pytest.mark.parametrize("spectrum", ["matern", "product-matern"])
def test_marginals_are_student_t(spectrum):
    """A Kolmogorov–Smirnov distance that 1 of 1000 independent samples exceeds."""
    drawn = unit_frequencies(spectrum, 1.5, 4000, 2, seed=0, quasi=False)
    for column in drawn.unbind(-1):
        test = stats.kstest(column.numpy(), stats.t(df=3).cdf)
        assert test.pvalue > 1e-3


def test_columns_share_the_scale_of_a_matern_and_not_of_a_product():
    """Squares of frequencies go together under a shared scale only."""

    def dependence(spectrum):
        drawn = unit_frequencies(spectrum, 2.5, 4000, 2, seed=0, quasi=False)
        ranks = stats.spearmanr(drawn[:, 0].abs(), drawn[:, 1].abs())
        return ranks.statistic

    assert dependence("matern") > 0.1
    assert abs(dependence("product-matern")) < 0.06


def test_features_have_norm_one_and_covariances_of_the_mean_cosine():
    drawn = Frequencies("rbf", 2.5, 7, 2)
    x, y = points(5, 2), points(4, 2, seed=1)
    inner = drawn.features(x) @ drawn.features(y).mT
    apart = x.unsqueeze(-2) - y
    torch.testing.assert_close(inner, drawn.correlation(apart), rtol=0.0, atol=1e-14)
    norms = drawn.features(x).square().sum(-1)
    torch.testing.assert_close(norms, torch.ones_like(norms), rtol=0.0, atol=1e-14)


def test_a_seed_is_a_draw_and_no_part_of_the_state():
    one, same, other = (Frequencies("matern", 1.5, 8, 3, seed=s) for s in (0, 0, 1))
    assert torch.equal(one.values, same.values)
    assert not torch.equal(one.values, other.values)
    assert not one.state_dict()
    assert one.to(torch.float32).features(points(2, 3).float()).dtype == torch.float32
