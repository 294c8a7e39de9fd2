from __future__ import annotations

import numpy as np
import pytest

from benchmarks.data import missing
from benchmarks.optimise.bokern_methods import _has_exactly
from benchmarks.optimise.commands import _skipped
from benchmarks.optimise.initial import initial_points
from benchmarks.optimise.objectives import (
    CONTROLS,
    NONSTATIONARY,
    OBJECTIVES,
    SUITES,
    Objective,
)
from benchmarks.optimise.peer_environment import PACKAGES
from benchmarks.optimise.recorder import BudgetSpentError, Recorder, TargetReached
from benchmarks.optimise.run import DEFAULT_METHODS, METHODS, Run
from benchmarks.optimise.target import parameters_of
from bokern.problems import Branin, InvariantDraw
from bokern.structures import parse

SKIPPED = {"ax": None, "smac": "not here", "hebo": "not here"}
CHEAP = [name for name in OBJECTIVES if not name.startswith("permutation6")]


def problem_of(name):
    lacking = missing(list(OBJECTIVES[name].files))
    if lacking:
        pytest.skip(lacking)
    return OBJECTIVES[name].problem(0)


@pytest.mark.parametrize("name", CHEAP)
def test_initial_points_lie_in_the_space_and_depend_on_the_seed(name):
    problem = problem_of(name)
    points = initial_points(problem, 0)
    assert len(points) == max(5, 2 * len(problem.space))
    assert points == initial_points(problem, 0)
    assert points != initial_points(problem, 1)
    for point in points:
        for parameter in parameters_of(problem):
            assert parameter.check(point[parameter.name]) == point[parameter.name]
    assert len(points) < OBJECTIVES[name].budget


@pytest.mark.parametrize("name", CHEAP)
def test_an_objective_is_what_it_says(name):
    problem = problem_of(name)
    objective = OBJECTIVES[name]
    assert objective.has_group == (problem.group is not None)
    kinds = [p for p in parameters_of(problem) if not p.ordered]
    assert objective.has_kinds == any(len(p.values) > 2 for p in kinds)
    assert objective.threshold(problem) > 0
    assert problem(initial_points(problem, 0)[0]) >= problem.optimum


def test_suites_and_sets_name_objectives():
    assert {n for names in SUITES.values() for n in names} == set(OBJECTIVES)
    assert {*CONTROLS, *NONSTATIONARY} < set(OBJECTIVES)
    named = {m for o in OBJECTIVES.values() for m in o.methods or ()}
    assert {*named, *DEFAULT_METHODS, *PACKAGES} <= set(METHODS)


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


def test_recorder_ends_a_run_below_the_goal():
    problem = Branin()
    recorder = Recorder(problem, budget=5, goal=problem.optimum + 0.01)
    recorder({"x1": 0.0, "x2": 0.0})
    assert not recorder.is_done
    best = dict(zip(("x1", "x2"), problem.optimizers[0], strict=True))
    with pytest.raises(TargetReached):
        recorder(best)
    assert recorder.is_done
    assert len(recorder.values) == len(recorder.points) == 2


def test_a_known_group_needs_a_group():
    assert Run("cyclic3", "bokern-known", 0).applies
    assert not Run("branin", "bokern-known", 0).applies
    assert Run("branin", "bokern", 0).applies


def test_kinds_need_a_method_that_knows_them():
    assert not Run("nasbench201_cifar10", "logei", 0).applies
    assert Run("nasbench201_cifar10", "ax", 0).applies
    assert Run("hpolib_naval", "logei", 0).applies


def test_what_is_not_there_is_an_obstacle(monkeypatch, tmp_path):
    monkeypatch.setenv("BOKERN_DATA", str(tmp_path))
    assert "BOKERN_DATA" in Run("agnp", "ax", 0).obstacle
    assert Run("branin", "ax", 0).obstacle is None


def test_reasons_for_skipping_are_said_once_each():
    runs = {Run("branin", m, s): r for m, r in SKIPPED.items() for s in range(3)}
    assert _skipped(runs) == ["skipped 6 runs: not here"]


def test_draws_under_all_permutations_are_shared_by_methods():
    first = OBJECTIVES["permutation6"].problem(0)
    assert first is OBJECTIVES["permutation6_until"].problem(0)
    assert first.group == "permutations(6)"
    assert first.dim == 6


def test_a_failure_is_recorded_with_what_came_before(monkeypatch):
    def fails(objective, initial, seed):
        objective(initial[0])
        raise RuntimeError("no more")

    monkeypatch.setattr("benchmarks.optimise.botorch_peers.run_sobol", fails)
    found = Run("branin", "sobol", 0).execute()
    assert len(found["values"]) == 1
    assert "no more" in found["error"]


def until(monkeypatch, budget, share):
    """A draw whose runs end once they are within a share of its depth."""
    objective = Objective(
        lambda seed: InvariantDraw(points=16, seed=seed),
        budget,
        lambda problem: share * abs(problem.optimum),
        has_group=True,
        ends_when_solved=True,
    )
    monkeypatch.setitem(OBJECTIVES, "until", objective)


@pytest.mark.parametrize("method", ["sobol", "bokern"])
def test_a_run_ends_when_it_is_solved(monkeypatch, method):
    until(monkeypatch, budget=12, share=2.0)
    found = Run("until", method, 0).execute()
    assert found["error"] is None
    assert found["ends_when_solved"]
    assert len(found["values"]) < 6


def test_what_was_believed_outlives_the_early_end(monkeypatch):
    until(monkeypatch, budget=6, share=1.5)
    below = iter([1.0] * 5 + [-9.0])
    monkeypatch.setattr(InvariantDraw, "__call__", lambda *_: next(below))
    found = Run("until", "bokern", 0).execute()
    assert found["error"] is None
    assert len(found["values"]) == 6
    assert found["found"]["right_group"] is False


def test_the_right_group_is_told_from_others():
    class Told:
        column_names = ("x1", "x2", "x3")

        def __init__(self, best):
            self.best = parse(best)

    right = Told("Matern(2.5) + Invariant(RBF(), cyclic(3, ['x2', 'x3', 'x1']))")
    assert _has_exactly(right, "cyclic(3)")
    assert not _has_exactly(Told("Invariant(RBF(), permutations(3))"), "cyclic(3)")
    assert not _has_exactly(Told("RBF()"), "cyclic(3)")


@pytest.mark.integration
def test_sobol_runs_to_the_end_of_its_budget():
    found = Run("gramacy2d", "sobol", 3).execute()
    assert found["error"] is None
    assert len(found["values"]) == found["budget"] == 30
    assert len(found["cpu_seconds"]) == 30
    assert found["versions"]["botorch"]
    assert all(x == float(f"{x:.6g}") for x in found["cpu_seconds"])


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize(
    "method", [m for m in METHODS if m != "bokern-known" and m not in PACKAGES]
)
def test_each_method_takes_the_initial_points_and_spends_its_budget(method):
    found = Run("gramacy_lee", method, 0).execute()
    assert found["error"] is None
    assert len(found["values"]) == 20
    problem = OBJECTIVES["gramacy_lee"].problem(0)
    initial = [problem(point) for point in initial_points(problem, 0)]
    np.testing.assert_allclose(found["values"][:5], initial, rtol=1e-12)
