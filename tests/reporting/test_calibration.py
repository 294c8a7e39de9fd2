from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import norm

from bokern.build import fit
from bokern.errors import InputError
from bokern.models import MixtureGP
from bokern.reporting import caption_of, leave_one_out_calibration
from bokern.reporting.calibration import calibration


def test_calibrated_predictions_are_covered_as_they_claim() -> None:
    mean, sd = np.linspace(-3, 3, 2000), np.full(2000, 0.5)
    quantiles = (np.arange(2000) + 0.5) / 2000
    y = mean + sd * norm.ppf(np.random.default_rng(0).permutation(quantiles))
    score = calibration(y, mean, (y - mean) / sd, norm.logpdf(y, mean, sd))
    for level, share in score.coverage:
        assert share == pytest.approx(level, abs=1e-3)
    np.testing.assert_allclose(np.sort(score.pit), quantiles, atol=1e-12)
    assert score.rmse == pytest.approx(0.5, rel=1e-2)
    assert score.log_density == pytest.approx(
        -0.5 * np.log(2 * np.pi * 0.25) - 0.5, abs=2e-3
    )


def test_errors_claimed_too_small_are_seen() -> None:
    y = np.random.default_rng(0).normal(size=500)
    score = calibration(y, np.zeros(500), y / 0.5, norm.logpdf(y, 0.0, 0.5))
    assert dict(score.coverage)[0.95] < 0.75
    assert score.residuals.std() == pytest.approx(2, rel=0.1)


def test_figure_states_the_coverage_and_counts_every_observation() -> None:
    X = torch.rand(25, 1, dtype=torch.float64)
    y = torch.sin(6 * X[:, 0]) + 0.1 * torch.randn(25, dtype=torch.float64)
    model = fit("Matern(2.5)", X, y, starts=2)
    figure = leave_one_out_calibration(model)
    bars = next(trace for trace in figure.data if trace.type == "bar")
    assert sum(bars.y) == 25
    points = figure.data[1]
    np.testing.assert_allclose(points.y, y, rtol=1e-9)
    assert "(of 95 %)" in caption_of(figure)


def test_logged_targets_are_judged_where_they_are_gaussian() -> None:
    X = torch.rand(25, 1, dtype=torch.float64)
    z = torch.sin(6 * X[:, 0]) + 0.4 * torch.randn(25, dtype=torch.float64)
    logged = fit("Matern(2.5)", X, (3 * z).exp(), starts=2, outcome="log")
    plain = fit("Matern(2.5)", X, 3 * z, starts=2)
    bars = [
        next(t for t in leave_one_out_calibration(m).data if t.type == "bar").y
        for m in (logged, plain)
    ]
    np.testing.assert_array_equal(*bars)


def test_refuses_a_model_without_a_closed_form() -> None:
    X = torch.rand(5, 1, dtype=torch.float64)
    with pytest.raises(InputError, match=r"a fitted StructuredGP, got MixtureGP"):
        leave_one_out_calibration(MixtureGP(X, X))
