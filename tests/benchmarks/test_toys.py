from __future__ import annotations

import pytest
import torch

from benchmarks.toys.functions import FUNCTIONS, NOISE, chirp, make_toy, step
from benchmarks.toys.run import ToyRun
from benchmarks.toys.summary import summary


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions_have_unit_variance_and_the_noise_said(name):
    toy = make_toy(name, 0)
    again, other = make_toy(name, 0), make_toy(name, 1)
    assert toy.X.shape == (200, 1)
    assert torch.equal(toy.y, again.y)
    assert torch.equal(toy.f_test, other.f_test)
    assert not torch.equal(toy.X, other.X)
    assert toy.f_test.std(correction=0).item() == pytest.approx(1.0)
    assert toy.f_test.mean().item() == pytest.approx(0.0, abs=1e-12)
    assert (toy.y_test - toy.f_test).std().item() == pytest.approx(NOISE, rel=0.1)
    nearest = torch.cdist(toy.X, toy.X_test).argmin(1)
    error = (toy.y - toy.f_test[nearest]).abs()
    assert error.median().item() < 1.5 * NOISE


def test_steps_are_flat_and_the_chirp_quickens():
    x = torch.linspace(0.0, 1.0, 5001, dtype=torch.float64)
    assert step(x).diff().count_nonzero() == 4
    crossings = chirp(x).sign().diff().count_nonzero(0)
    early = chirp(x[:1000]).sign().diff().count_nonzero()
    assert crossings > 15 * early


@pytest.mark.integration
def test_an_exact_gp_is_scored():
    found = ToyRun("step", "exact", 0).execute()
    assert found["error"] is None
    assert 0.0 < found["rmse"] < 0.5


def record(function, method, seed, rmse, **changes):
    run = {"function": function, "method": method, "seed": seed}
    score = {"rmse": rmse, "mnlp": 0.1, "noise_sd": 0.1, "fit_seconds": 2.0}
    rest = {"error": None, "versions": {"bokern": "1"}}
    return {"key": f"{function}/{method}/{seed}", **run, **score, **rest, **changes}


def test_claims_are_of_medians_and_a_failure_counts_as_infinite():
    records = [
        *(record("chirp", "sswim", s, 0.1 + 0.1 * s) for s in range(3)),
        *(record("step", "sswim", s, 0.1) for s in range(2)),
        *(record("step", "sswim", s, None, error="no") for s in range(2, 5)),
        record("mix", "sswim", 0, 0.2),
        record("mix", "exact", 0, 0.3),
    ]
    text = summary(records)
    assert "chirp: RMSE of sswim, median of 3 seeds | 0.2 | ≤ 0.2 | yes" in text
    assert "step: RMSE of sswim, median of 5 seeds | inf | ≤ 0.14 | NO" in text
    assert "| 0.2 | ≤ 0.3 (exact GP) | yes" in text
    assert "no runs" in summary([])
