from __future__ import annotations

import math

import pytest
import torch

import bokern
from benchmarks.airline.run import MIXTURE, AirlineRun, months
from benchmarks.airline.summary import PUBLISHED, reference, summary


def test_targets_are_scaled_by_the_whole_series():
    X, z = months("raw")
    assert X.shape == (96, 1)
    assert z[0].item() == pytest.approx((112 - 280.298611) / 119.549046, abs=1e-5)
    _, log = months("log")
    whole = math.log(112)
    assert log[0].item() < log[-1].item()
    spread = (log[1] - log[0]).item() / (math.log(118) - whole)
    assert spread == pytest.approx(1 / 0.43991, rel=1e-3)


def test_a_search_records_what_the_mixture_reached(monkeypatch):
    def quick(X, z, structures, **options):
        assert MIXTURE in structures
        mixture = ["RBF() * Periodic() + RBF() + RationalQuadratic()", "RBF()"]
        return bokern.compare(mixture, X[::6], z[::6], starts=1, **options)

    monkeypatch.setattr(bokern, "search", quick, raising=False)
    found = AirlineRun("search", "raw", 0).execute()
    assert found["error"] is None
    assert math.isfinite(found["reached"])
    assert found["evaluations"] > 0


def test_a_mixture_that_was_given_up_is_a_failure(monkeypatch):
    def without(X, z, structures, **options):
        return bokern.compare(["RBF()"], X[::8], z[::8], starts=1, **options)

    monkeypatch.setattr(bokern, "search", without, raising=False)
    assert "was given up" in AirlineRun("search", "raw", 0).execute()["error"]


def record(method, reached, scale="raw"):
    found = {} if reached is None else {"reached": reached}
    error = "LookupError: no" if reached is None else None
    return {
        "key": method,
        "method": method,
        "scale": scale,
        "seed": 0,
        "cpu_seconds": 1.0,
        "error": error,
        "versions": {},
        **found,
    }


def test_the_reference_is_the_best_of_all_ways():
    runs = [record("search", 70.0), record("search", 77.5), record("fit", 78.2)]
    assert reference(runs, "raw", "search") == 78.2
    assert reference([record("fit-ml", 90.0)], "raw", "fit-ml") == PUBLISHED
    assert reference([record("fit-ml", 80.0, "log")], "log", "fit-ml") == 80.0


def test_summary_counts_what_is_within_a_nat():
    runs = [record("search", v) for v in (78.0, 77.3, 70.0)]
    runs += [record("fit", 78.2), record("search", None)]
    text = summary(runs)
    assert "search: within 1 nat of 78.20 | 2 of 4 (50%) | ≥ 95% | NO |" in text
    assert "1 of 5 runs failed" in text


@pytest.mark.slow
def test_a_fit_finds_the_best_known_likelihood():
    found = AirlineRun("fit-ml", "raw", 0).execute()
    assert found["reached"] > PUBLISHED - 1.0
    assert torch.get_num_threads() >= 1
