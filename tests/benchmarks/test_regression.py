from __future__ import annotations

import numpy as np
import pytest

import bokern
from benchmarks.data import VARIABLE
from benchmarks.regression.run import RegressionRun
from benchmarks.regression.splits import FILES, load_split
from benchmarks.regression.summary import summary


@pytest.fixture
def folder(tmp_path, monkeypatch):
    source = np.random.default_rng(0)
    X = source.random((40, 2)).astype(np.float32)
    X[39] = X[0]
    y = 5.0 + 3.0 * X[:, 0] + 0.1 * source.standard_normal(40).astype(np.float32)
    mask = np.zeros((40, 20), bool)
    mask[36:, 0] = True
    fold = np.arange(40) % 10
    for name, file in FILES.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        extra = {"fold": fold} if name == "airfoil" else {"test_mask": mask}
        names = np.array(["p", "q"])
        np.savez(tmp_path / file, X=X, y=y, feature_names=names, **extra)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_splits_follow_masks_and_folds(folder):
    masked = load_split("yacht", 0)
    assert (len(masked.X), len(masked.X_test)) == (36, 4)
    assert masked.repeated == 1
    assert masked.names == ("p", "q")
    folded = load_split("airfoil", 3)
    assert (len(folded.X), len(folded.X_test)) == (36, 4)
    low, high = masked.bounds[0]
    assert low < masked.X_test[:, 0].min() or high >= masked.X_test[:, 0].max()


@pytest.mark.integration
def test_both_methods_are_scored(folder, monkeypatch):
    def two(X, y, **options):
        assert list(X.columns) == ["p", "q"]
        return bokern.compare(["RBF()", "Linear()"], X, y, starts=2, **options)

    monkeypatch.setattr(bokern, "search", two, raising=False)
    ours = RegressionRun("yacht", "search", 0).execute()
    theirs = RegressionRun("yacht", "matern", 0).execute()
    for found in (ours, theirs):
        assert found["error"] is None
        assert found["rmse"] < 0.5
        assert found["standardised_mse"] < 0.2
        assert np.isfinite(found["log_density"])
    text = summary([{"key": "", **ours}, {"key": "", **theirs}])
    assert "yacht: log density, mean of 1 splits" in text


def record(method, log_density, rmse, mse, **changes):
    return {
        "key": method,
        "data": "concrete",
        "method": method,
        "seed": 0,
        "rmse": rmse,
        "log_density": log_density,
        "standardised_mse": mse,
        "rows": 900,
        "repeated": 3,
        "members": 2,
        "cpu_seconds": 5.0,
        "error": None,
        "versions": {},
    } | changes


def test_summary_judges_by_sign():
    text = summary(
        [record("search", -3.0, 5.0, 0.08), record("matern", -3.1, 4.0, 0.1)]
    )
    assert "| -3 | ≥ -3.1 (Matérn-5/2) | yes |" in text
    assert "| 5 | ≤ 4 (Matérn-5/2) | NO |" in text
    assert "| 0.080 | ≤ 0.087 (published, ten folds) | yes |" in text


def test_a_failed_run_is_shown_and_takes_no_part():
    failed = record("search", None, None, None, error="RuntimeError: no")
    text = summary([failed, record("matern", -3.1, 4.0, 0.1)])
    assert "| failed |" in text
    assert "log density, mean" not in text
    assert "1 of 2 runs failed" in text
