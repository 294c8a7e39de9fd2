from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from benchmarks.surrogates.data import FUNCTIONS, make_data
from benchmarks.surrogates.methods import METHODS
from benchmarks.surrogates.run import SurrogateRun
from benchmarks.surrogates.summary import OURS, summary


def test_data_depend_on_the_seed_alone_and_differ_by_size():
    one, again = make_data("gramacy2d", 20, 3), make_data("gramacy2d", 20, 3)
    assert torch.equal(one.X, again.X)
    assert torch.equal(one.y, again.y)
    other, fewer = make_data("gramacy2d", 20, 4), make_data("gramacy2d", 10, 3)
    assert torch.equal(one.f_test, other.f_test)
    assert not torch.equal(one.X, other.X)
    assert not torch.isclose(one.X[:10], fewer.X).any()
    noise = one.y - FUNCTIONS["gramacy2d"].problem().evaluate(one.X)
    assert 0.004 < (noise.std() / one.scale).item() < 0.02


@pytest.mark.integration
@pytest.mark.parametrize("method", ["matern", "warp", "our-warp", "deep"])
def test_what_predicts_is_scored_in_units_of_the_function(method):
    found = SurrogateRun("xiong", method, 10, 1).execute()
    assert found["error"] is None
    assert 0.05 < found["nrmse"] < 2.0
    assert math.isfinite(found["nlpd"])


@pytest.mark.integration
def test_networks_and_layers_learn(monkeypatch):
    monkeypatch.setattr("benchmarks.surrogates.deep_peers.KERNEL_STEPS", 60)
    monkeypatch.setattr("benchmarks.surrogates.deep_peers.LAYER_STEPS", 150)
    data = make_data("gramacy_lee", 40, 0)
    for name in ("dkl", "dsdgp"):
        model, _ = METHODS[name](data, 0)
        posterior = model.posterior(data.X_test)
        mean = posterior.mean.detach().squeeze(-1)
        assert (posterior.variance > 0).all()
        error = (mean - data.f_test).square().mean().sqrt().item() / data.scale
        assert error < 0.9


def record(function, n, method, seed, nrmse, nlpd, **changes):
    versions = {"bokern": "1"}
    run = {"function": function, "n": n, "method": method, "seed": seed}
    score = {"nrmse": nrmse, "nlpd": nlpd, "cpu_seconds": 1.0}
    key = f"{function}/{n}/{method}/{seed}"
    return {"key": key, "error": None, "versions": versions, **run, **score, **changes}


def test_claims_are_judged_on_what_ran():
    records = [
        *(record("gramacy_lee", 40, OURS, s, 0.03, -2.0) for s in range(8)),
        record("gramacy_lee", 40, OURS, 8, np.nan, np.nan, error="Boom\nlast"),
        record("xiong", 10, OURS, 0, 1.0, 12.0),
        record("xiong", 10, "matern", 0, 1.0, 2.0),
        record("hartmann6", 60, "search", 0, 1.0, 1.0),
        record("hartmann6", 60, "matern", 0, 0.98, 1.0),
    ]
    text = summary(records)
    assert f"gramacy_lee, n = 40, {OURS}: median error over 9 seeds | 0.03" in text
    lines = text.splitlines()
    density = next(line for line in lines if "90th percentile of" in line)
    assert density.endswith("| ≤ 0 | NO |")
    small = next(line for line in lines if line.startswith("| xiong, n = 10"))
    assert small.endswith("worst | 1 | ≤ 0 | NO |")
    assert "| 1.02 | ≤ 1.05 | yes |" in text
    assert "1 of 13 runs failed" in text
