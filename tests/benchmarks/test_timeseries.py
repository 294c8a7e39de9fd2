from __future__ import annotations

import numpy as np
import pytest
import torch

import bokern
from benchmarks.__main__ import main
from benchmarks.data import VARIABLE
from benchmarks.timeseries.published import (
    EUREQA,
    EXTRAPOLATION,
    EXTRAPOLATION_METHODS,
    INTERPOLATION,
    INTERPOLATION_METHODS,
    least_squares_rmse,
    published_rmse,
)
from benchmarks.timeseries.run import SeriesRun
from benchmarks.timeseries.series import FILE, NAMES, Series, load_series
from benchmarks.timeseries.spectral import fit_spectral
from benchmarks.timeseries.summary import medians, ratios, summary


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with short series under the published names."""
    arrays = {}
    for number, name in enumerate(NAMES):
        X = 1950.0 + np.arange(30.0)
        arrays[f"{name}_X"] = X
        arrays[f"{name}_y"] = np.sin(X) + 0.1 * number * np.arange(30.0)
        arrays[f"{name}_ntrain9010"] = np.array(27)
        arrays[f"{name}_test5050"] = np.arange(30) % 2 == 0
    (tmp_path / FILE).parent.mkdir()
    np.savez(tmp_path / FILE, **arrays)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_published_medians_are_those_of_the_papers():
    columns = dict(
        zip(
            EXTRAPOLATION_METHODS, np.array(list(EXTRAPOLATION.values())).T, strict=True
        )
    )
    assert np.median(columns["ABCD-accuracy"]) == pytest.approx(1.07, abs=0.005)
    assert np.median(columns["CKS"]) == pytest.approx(1.23, abs=0.005)
    inside = np.array(list(INTERPOLATION.values()))
    assert np.median(inside[:, 0]) == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("table", [EXTRAPOLATION, INTERPOLATION])
def test_published_ratios_are_to_the_best_of_each_series(table):
    assert tuple(table) == NAMES
    for row in table.values():
        assert min(row) == 1.0


@pytest.mark.oracle
def test_least_squares_is_numpys_line():
    series = Series(
        torch.tensor([[1950.0], [1951.0], [1953.0]]).double(),
        torch.tensor([1.0, 2.5, 3.0]).double(),
        torch.tensor([[1954.0], [1955.0]]).double(),
        torch.tensor([4.0, 4.0]).double(),
    )
    line = np.polyfit([1950.0, 1951.0, 1953.0], [1.0, 2.5, 3.0], 1)
    off = np.polyval(line, [1954.0, 1955.0]) - 4.0
    assert least_squares_rmse(series) == pytest.approx(np.sqrt(np.mean(off**2)))


def test_published_errors_keep_their_ratios(folder):
    series = load_series("solar", "extrapolation")
    found = published_rmse("solar", "extrapolation", series)
    assert tuple(found) == EXTRAPOLATION_METHODS
    assert found["Eureqa"] == pytest.approx(EUREQA["solar"])
    best = min(found.values())
    np.testing.assert_allclose(
        [v / best for v in found.values()], EXTRAPOLATION["solar"]
    )
    series = load_series("solar", "interpolation")
    found = published_rmse("solar", "interpolation", series)
    assert tuple(found) == INTERPOLATION_METHODS
    assert found["linear"] == pytest.approx(least_squares_rmse(series))


def test_splits_are_those_of_the_file(folder):
    ahead = load_series("wheat", "extrapolation")
    assert (len(ahead.y), len(ahead.y_test)) == (27, 3)
    assert ahead.X.max() < ahead.X_test.min()
    assert ahead.bounds == [(1950.0, 1979.0)]
    between = load_series("wheat", "interpolation")
    assert between.X_test.flatten()[:2].tolist() == [1950.0, 1952.0]


@pytest.mark.integration
def test_a_run_scores_the_averaged_search(folder, monkeypatch):
    def two(X, y, **options):
        return bokern.compare(["RBF()", "Linear()"], X, y, starts=2, **options)

    monkeypatch.setattr(bokern, "search", two, raising=False)
    found = SeriesRun("radio", "interpolation", "search").execute()
    assert found["error"] is None
    assert found["rmse"] > 0
    assert found["rows"] == 15
    assert set(found["published"]) == set(INTERPOLATION_METHODS)
    linear = SeriesRun("radio", "interpolation", "linear").execute()
    assert linear["best"] == "Linear()"


@pytest.mark.integration
def test_spectral_mixture_keeps_the_best_of_its_starts(folder, monkeypatch):
    monkeypatch.setattr("benchmarks.timeseries.spectral.STARTS", 2)
    monkeypatch.setattr("benchmarks.timeseries.spectral.MIXTURES", 2)
    monkeypatch.setattr("benchmarks.timeseries.spectral.ITERATIONS", 5)
    series = load_series("radio", "interpolation")
    model, record = fit_spectral(series, 0)
    assert np.isfinite(record["log_likelihood_a_point"])
    assert model.posterior(series.X_test).mean.shape == (15, 1)


def test_absent_data_skip_the_benchmark(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert main(["timeseries"]) == 0
    assert "skipped" in capsys.readouterr().out
    assert main(["regression"]) == 0
    assert "skipped" in capsys.readouterr().out


def record(series, method, rmse, task="extrapolation", **changes):
    base = {
        "key": f"{series}/{method}",
        "series": series,
        "task": task,
        "method": method,
        "seed": 0,
        "rmse": rmse,
        "log_density": 0.0,
        "cpu_seconds": 10.0,
        "error": None,
        "versions": {},
        "published": {"ABCD-accuracy": 2.0, "CKS": 4.0, "linear": 8.0},
    }
    return base | changes


def test_ratios_and_medians():
    found = ratios({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 3.0, "y": 1.5}})
    assert found == {"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0, "y": 1.0}}
    assert medians(found) == {"x": 1.5, "y": 1.5}


def test_summary_joins_ours_with_what_was_published():
    runs = [record(s, "search", e) for s, e in [("airline", 1.0), ("solar", 3.0)]]
    runs += [record(s, "SE", 6.0) for s in ("airline", "solar")]
    text = summary(runs)
    assert "| 1.250 | < 1.500 (ABCD-accuracy) | yes |" in text
    assert "< 3.000 (CKS) | yes |" in text
    assert "| 10 (10) | ≤ 240 | yes |" in text
    assert "interpolation:" not in text


def test_a_failed_search_is_infinitely_wrong():
    failed = record("airline", "search", None, error="RuntimeError: no")
    del failed["published"]
    runs = [failed, record("airline", "SE", 6.0)]
    text = summary(runs)
    assert "| inf | < " in text
    assert "| NO |" in text
