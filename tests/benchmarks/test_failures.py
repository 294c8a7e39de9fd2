"""The benchmark of partly failing functions."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.failures import run
from benchmarks.failures.run import REGIONS, FailureRun, PartlyFailing, summary


@pytest.mark.parametrize(("region", "share"), [("disk", 0.69), ("corner", 0.39)])
def test_regions_are_as_large_as_said_and_hold_an_optimum(region, share):
    problem = PartlyFailing(region).problem
    (a, b) = (np.linspace(*bounds, 301) for bounds in problem.bounds)
    inside = np.mean([REGIONS[region](x, y) for x in a for y in b])
    assert inside == pytest.approx(share, abs=0.005)
    assert any(REGIONS[region](*x) for x in problem.optimizers)


@pytest.mark.integration
@pytest.mark.parametrize("method", ["bokern", "ax"])
def test_a_short_run_counts_every_evaluation(monkeypatch, method):
    monkeypatch.setattr(run, "BUDGET", 7)
    record = FailureRun("corner", method, 0).execute()
    assert record["error"] is None
    assert record["evaluated"] == 7
    assert 0 < record["failed"] < 7
    assert record["regret"] >= 0.0


def test_the_summary_takes_runs_without_a_value():
    record = {"region": "disk", "method": "ax", "failed": 30, "cpu_seconds": 1.0}
    runs = [{**record, "regret": r, "error": None} for r in (0.5, 1.0, np.inf)]
    assert "| disk | ax | 3 | 1 [" in summary(runs)
