from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.optimise import peer_process
from benchmarks.optimise.coding import from_unit, to_unit
from benchmarks.optimise.initial import initial_points, sobol_points
from benchmarks.optimise.peer_environment import (
    PACKAGES,
    VARIABLE,
    interpreter,
    missing_peer,
)
from benchmarks.optimise.peer_process import Worker, run_peer
from benchmarks.optimise.real_table import RealTable
from benchmarks.optimise.recorder import Recorder
from benchmarks.optimise.run import Run
from benchmarks.optimise.target import parameters_of
from bokern.optimize.space import choice
from bokern.problems import Branin

# Asks for the middle of each parameter, and says what it was told.
FAKE = """
import json, sys
setup = json.loads(sys.stdin.readline())
print(json.dumps({"version": "1.2"}), flush=True)
print(json.dumps(setup), file=sys.stderr, flush=True)
space = setup["setup"]["space"]
for _ in range(LIMIT):
    point = {d["name"]: d["count"] // 2 or (d["low"] + d["high"]) / 2 for d in space}
    print(json.dumps({"point": point, "cpu_seconds": 0.25}), flush=True)
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    print(line, file=sys.stderr, flush=True)
sys.exit("no more ideas")
"""


def mixed():
    space = {"x": (0.0, 4.0), "n": [1, 2, 4], "kind": choice("a", "b")}
    designs = np.array([[2.0, 1, 1], [0.0, 0, 0]])
    return RealTable("mixed", space, designs, np.array([[1.0, 2.0], [3.0, 3.0]]))


@pytest.fixture
def fake(monkeypatch):
    def use(limit=100):
        program = FAKE.replace("LIMIT", str(limit))
        monkeypatch.setattr(peer_process, "WORKER", ("-c", program))
        monkeypatch.setattr(peer_process, "interpreter", lambda _: sys.executable)

    return use


@pytest.mark.integration
def test_a_peer_chooses_points_and_its_own_time_is_recorded(fake):
    fake()
    problem = Branin()
    recorder = Recorder(problem, budget=7)
    initial = initial_points(problem, 0)
    found = run_peer("smac", recorder, initial, 0)
    assert found == {"versions": {"smac": "1.2"}}
    assert recorder.points[:5] == [list(point.values()) for point in initial]
    assert recorder.points[5:] == [[2.5, 7.5]] * 2
    assert recorder.values[5] == problem({"x1": 2.5, "x2": 7.5})
    assert recorder.cpu_seconds[5:] == [0.25, 0.25]


@pytest.mark.integration
def test_choices_travel_as_places(fake):
    fake()
    recorder = Recorder(mixed(), budget=3)
    first = [{"x": 0.0, "n": 4, "kind": "a"}, {"x": 1.0, "n": 1, "kind": "b"}]
    run_peer("smac", recorder, first, 0)
    assert recorder.points[2] == [2.0, 2, "b"]


@pytest.mark.integration
def test_a_peer_that_dies_says_why_and_keeps_what_came_before(fake):
    fake(limit=1)
    run = Run("gramacy_lee", "smac", 0)
    found = run.execute()
    assert len(found["values"]) == 6
    assert "no more ideas" in found["error"]


@pytest.mark.integration
def test_a_worker_that_does_not_end_is_ended(monkeypatch):
    monkeypatch.setattr(peer_process, "PATIENCE", 0.2)
    with Worker([sys.executable, "-c", "import time; time.sleep(60)"]) as worker:
        process = worker._process
    assert process.returncode is not None


@pytest.mark.integration
def test_the_worker_serves_a_peer_apart_from_what_libraries_print():
    program = """
import sys
from types import ModuleType
from benchmarks.optimise.peers import worker

class Middle:
    def __init__(self, setup):
        print("a library prints", setup.values)
        self._point = {d.name: (d.low + d.high) / 2 for d in setup.space}
    def ask(self):
        return self._point
    def tell(self, point, value):
        print("told", value)

module = ModuleType("benchmarks.optimise.peers.middle")
module.Middle = Middle
sys.modules[module.__name__] = module
worker.PEERS["middle"] = "middle:Middle"
worker.serve()
"""
    space = [{"name": "x", "kind": "real", "low": 0.0, "high": 2.0, "count": 0}]
    setup = {
        "space": space,
        "initial": [{"x": 0.5}],
        "values": [3.0],
        "seed": 0,
        "budget": 3,
        "noisy": False,
    }
    with Worker([sys.executable, "-c", program]) as worker:
        worker.send({"peer": "middle", "package": "pytest", "setup": setup})
        assert worker.receive()["version"] == pytest.__version__
        for _ in range(2):
            asked = worker.receive()
            assert asked["point"] == {"x": 1.0}
            assert asked["cpu_seconds"] >= 0.0
            worker.send({"value": 4.0})


def test_environments_are_searched_in_order(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert interpreter("hebo") is None
    with_hebo = tmp_path / "second"
    (with_hebo / "lib" / "python3.11" / "site-packages" / "hebo").mkdir(parents=True)
    folders = [str(tmp_path / "first"), str(with_hebo)]
    monkeypatch.setenv(VARIABLE, os.pathsep.join(folders))
    assert interpreter("hebo") == with_hebo / "bin" / "python"
    assert missing_peer("hebo") is None
    assert missing_peer("smac") is not None


@pytest.mark.parametrize("method", PACKAGES)
def test_a_peer_that_is_not_there_says_how_to_install_it(monkeypatch, method):
    monkeypatch.setenv(VARIABLE, "")
    reason = Run("branin", method, 0).obstacle
    assert VARIABLE in reason
    assert "pip install" in reason
    with pytest.raises(RuntimeError, match="pip install"):
        run_peer(method, Recorder(Branin(), 5), [], 0)


def test_a_row_of_the_cube_is_a_point_and_back():
    parameters = parameters_of(
        SimpleNamespace(space={**mixed().space, "r": (1e-3, 1.0, "log")})
    )
    point = {"x": 1.0, "n": 4, "kind": "a", "r": 1e-2}
    row = to_unit(parameters, point)
    assert row == pytest.approx([0.25, 2.5 / 3, 0.25, 1 / 3])
    assert from_unit(parameters, row) == pytest.approx(point)


def test_the_sobol_sequence_goes_on_from_the_initial_points():
    table = mixed()
    assert sobol_points(table, 20, 3)[:6] == initial_points(table, 3)


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("method", PACKAGES)
def test_each_peer_spends_its_budget(method):
    lacking = missing_peer(method)
    if lacking:
        pytest.skip(lacking)
    recorder = Recorder(mixed(), budget=8)
    run_peer(method, recorder, initial_points(recorder.problem, 0)[:5], 0)
    assert len(recorder.values) == 8
