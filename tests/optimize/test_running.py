"""The loop: resumed, in parallel, with time limits, through crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from bokern import Study, minimize
from bokern.errors import SpaceError
from bokern.optimize import running

pytestmark = pytest.mark.integration
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
ONE = {"structures": "Matern(2.5)"}


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.6) ** 2


def test_it_goes_on_where_it_ended(tmp_path):
    whole = minimize(bowl, SQUARE, 8, initial=4, **ONE)
    place = tmp_path / "run.db"
    minimize(bowl, SQUARE, 5, initial=4, study=place, **ONE)
    calls = []
    found = minimize(
        lambda x, y: calls.append(x) or bowl(x, y),
        SQUARE,
        8,
        initial=4,
        study=place,
        **ONE,
    )
    assert len(calls) == 3
    assert list(found.trials["value"]) == list(whole.trials["value"])
    assert minimize(bowl, SQUARE, 8, initial=4, study=place, **ONE).notes == ()


def test_given_points_are_not_evaluated_twice(tmp_path):
    given = [{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.8}]
    place = tmp_path / "run.db"
    Study(place, SQUARE, initial=2, **ONE).run(bowl, 1, first=given[:1])
    found = minimize(bowl, SQUARE, 3, initial=given, study=place, **ONE)
    assert found.trials[["x", "y"]][:2].to_dict("records") == given
    assert list(found.trials["generator"]) == ["initial"] * 2 + ["Matern(2.5)"]


def test_an_interrupted_trial_is_evaluated_again(tmp_path):
    place = tmp_path / "run.db"
    calls = []

    def f(x, y):
        calls.append((x, y))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return bowl(x, y)

    with pytest.raises(KeyboardInterrupt) as caught:
        minimize(f, SQUARE, 5, study=place, **ONE)
    assert len(caught.value.result.trials) == 2
    found = minimize(f, SQUARE, 5, study=place, **ONE)
    assert calls[3] == calls[2]
    whole = minimize(bowl, SQUARE, 5, **ONE)
    assert list(found.trials["value"]) == list(whole.trials["value"])


KILLED = """
import os, signal, sys
import bokern

calls = 0

def f(x, y):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return (x - 0.3) ** 2 + (y - 0.6) ** 2

space = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
bokern.minimize(f, space, 8, study=sys.argv[1], structures="Matern(2.5)")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path):
    place = tmp_path / "run.db"
    for call in (3, 4):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, place, str(call)], timeout=120
        )
        assert done.returncode == -signal.SIGKILL
    found = minimize(bowl, SQUARE, 8, study=place, **ONE)
    whole = minimize(bowl, SQUARE, 8, **ONE)
    assert list(found.trials["value"]) == list(whole.trials["value"])
    assert Study(place).check() == []
    assert Study(place)[2].attempt == 2


def test_a_hanging_function_is_stopped_at_its_time_limit():
    def f(x, y):
        if x > 0.5:
            time.sleep(3_600)
        return bowl(x, y)

    start = time.perf_counter()
    found = minimize(f, SQUARE, 4, time_limit=2.0, **ONE)
    assert time.perf_counter() - start < 600, "processes start slowly on busy machines"
    late = found.trials["x"] > 0.5
    assert 0 < late.sum() < 4
    assert set(found.trials["reason"][late]) == {"stopped at its time limit of 2 s"}
    assert (found.trials["status"][~late] == "completed").all()


def test_a_crash_of_the_function_is_a_failure_of_its_trial():
    def f(x, y):
        if x > 0.5:
            os._exit(3)
        return bowl(x, y)

    found = minimize(f, SQUARE, 4, time_limit=60.0, **ONE)
    late = found.trials["x"] > 0.5
    assert 0 < late.sum() < 4
    assert all("its process died" in reason for reason in found.trials["reason"][late])
    assert (found.trials["status"][~late] == "completed").all()


def test_evaluations_at_once(tmp_path):
    def f(x, y):
        time.sleep(1.0)
        return os.getpid(), 0.0

    study = Study(tmp_path / "run.db", SQUARE, initial=6, **ONE)
    start = time.perf_counter()
    found = study.run(f, 6, parallel=3)
    assert time.perf_counter() - start < 40
    assert found.trials["value"].nunique() == 3
    assert os.getpid() not in set(found.trials["value"])
    assert len(found.trials) == 6
    assert study.pending == []


def test_an_error_in_another_process_is_a_failure_of_its_trial():
    def f(x, y):
        if x > 0.5:
            raise ValueError("burst")
        return bowl(x, y)

    found = Study(None, SQUARE, initial=4).run(f, 4, parallel=2)
    failed = found.trials["status"] == "failed"
    assert set(found.trials["reason"][failed]) == {"ValueError: burst"}


def test_leases_are_renewed_while_a_function_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "LEASE", 0.3)
    study = Study(tmp_path / "run.db", SQUARE, **ONE)

    def f(x, y):
        time.sleep(0.8)
        assert Study(tmp_path / "run.db")._ledger.reissued(1.0) is None
        return bowl(x, y)

    found = study.run(f, 2)
    assert (found.trials["status"] == "completed").all()
    assert [study[i].attempt for i in range(2)] == [1, 1]


def test_several_objectives():
    study = Study(None, SQUARE, {"a": "minimize", "b": "maximize"}, initial=3, **ONE)
    found = study.run(lambda x, y: {"a": x, "b": (y, 0.01)}, 5)
    assert "are beaten by no other in a and b" in str(found)
    assert found.best_parameters == {}
    assert len(found.pareto) >= 1
    assert found.to_json()
    assert found.trials[["a", "b"]].notna().all(axis=None)


def test_maximising():
    study = Study(None, SQUARE, "maximize", initial=3, **ONE)
    found = study.run(lambda x, y: -bowl(x, y), 5, optimum=0.0)
    assert found.best_value == found.trials["value"].max()
    assert found.regret == -found.best_value
    assert f"{found.best_value:.8g}" in str(found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"parallel": 0}, "parallel="),
        ({"parallel": 1.5}, "parallel="),
        ({"time_limit": 0}, "time_limit="),
        ({"time_limit": float("nan")}, "time_limit="),
        ({"time_limit": "1"}, "time_limit="),
        ({"first": [{"x": 0.5}]}, "missing"),
        ({"budget": 0}, "budget"),
    ],
)
def test_bad_arguments(arguments, words):
    study = Study(None, SQUARE)
    with pytest.raises(SpaceError, match=words):
        study.run(bowl, **{"budget": 3, **arguments})
    assert len(study) == 0
