from __future__ import annotations

import numpy as np
import pytest

from benchmarks.optimise.objectives import OBJECTIVES, SUITES, initial_points
from benchmarks.optimise.recorder import BudgetSpentError, Recorder
from benchmarks.optimise.run import METHODS, Run
from bokern.problems import Branin


@pytest.mark.parametrize("name", OBJECTIVES)
def test_initial_points_lie_in_the_box_and_depend_on_the_seed(name):
    problem = OBJECTIVES[name].problem(0)
    points = initial_points(problem, 0)
    assert len(points) == max(5, 2 * problem.dim)
    assert points == initial_points(problem, 0)
    assert points != initial_points(problem, 1)
    for point in points:
        for (low, high), value in zip(problem.bounds, point.values(), strict=True):
            assert low <= value <= high
    assert len(points) < OBJECTIVES[name].budget


def test_suites_name_objectives():
    assert {n for names in SUITES.values() for n in names} == set(OBJECTIVES)


def test_the_threshold_of_a_draw_is_a_share_of_its_depth():
    objective = OBJECTIVES["cyclic3"]
    problem = objective.problem(0)
    assert objective.threshold(problem) == pytest.approx(-0.1 * problem.optimum)


def test_recorder_refuses_more_than_the_budget():
    recorder = Recorder(Branin(), budget=1)
    point = {"x1": 0.0, "x2": 0.0}
    value = recorder(point)
    assert recorder.values == [value]
    with pytest.raises(BudgetSpentError):
        recorder(point)
    assert len(recorder.values) == 1


def test_a_known_group_needs_a_group():
    assert Run("cyclic3", "bokern-known", 0).applies
    assert not Run("branin", "bokern-known", 0).applies
    assert Run("branin", "bokern", 0).applies


def test_a_failure_is_recorded_with_what_came_before(monkeypatch):
    def fails(objective, initial, seed):
        objective(initial[0])
        raise RuntimeError("no more")

    monkeypatch.setattr("benchmarks.optimise.botorch_peers.run_sobol", fails)
    found = Run("branin", "sobol", 0).execute()
    assert len(found["values"]) == 1
    assert "no more" in found["error"]


@pytest.mark.integration
def test_sobol_runs_to_the_end_of_its_budget():
    found = Run("gramacy2d", "sobol", 3).execute()
    assert found["error"] is None
    assert len(found["values"]) == found["budget"] == 30
    assert len(found["cpu_seconds"]) == 30
    assert found["versions"]["botorch"]


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("method", [m for m in METHODS if m != "bokern-known"])
def test_each_method_takes_the_initial_points_and_spends_its_budget(method):
    found = Run("gramacy_lee", method, 0).execute()
    assert found["error"] is None
    assert len(found["values"]) == 20
    problem = OBJECTIVES["gramacy_lee"].problem(0)
    initial = [[point["x1"]] for point in initial_points(problem, 0)]
    np.testing.assert_allclose(found["points"][:5], initial)
