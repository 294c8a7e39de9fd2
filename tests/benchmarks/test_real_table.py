from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.data import VARIABLE, missing
from benchmarks.optimise import real_tables
from benchmarks.optimise.real_table import RealTable
from benchmarks.optimise.real_tables import REAL_TABLES, real_table
from benchmarks.optimise.recorder import Recorder
from bokern.optimize.space import choice

NAN = np.nan


def small(seed=0):
    space = {"x": (0.0, 10.0), "n": [1, 2, 4], "kind": choice("a", "b", "c")}
    designs = np.array([[0.0, 0, 0], [10.0, 2, 1], [5.0, 1, 2]])
    measurements = np.array([[1.0, 3.0, NAN], [7.0, 8.0, 9.0], [-1.0, NAN, NAN]])
    return RealTable("small", space, designs, measurements, seed)


def test_a_design_is_worth_the_mean_of_its_measurements():
    table = small()
    assert table.values.tolist() == [2.0, 8.0, -1.0]
    assert table.optimum == -1.0
    assert table.is_noisy
    assert table({"x": 1.0, "n": 1, "kind": "a"}) == 2.0


@pytest.mark.parametrize(
    ("point", "row"),
    [
        ({"x": 0.0, "n": 1, "kind": "a"}, 0),
        ({"x": 9.0, "n": 4, "kind": "b"}, 1),
        # Of a range 9 is a tenth from 10; of the choices all but one agree.
        ({"x": 9.0, "n": 2, "kind": "c"}, 2),
    ],
)
def test_the_nearest_design_is_taken_on_scaled_parameters(point, row):
    assert small().nearest(point) == row


def test_measurements_come_in_an_order_of_the_seed_alone():
    point = {"x": 10.0, "n": 4, "kind": "b"}
    first, again = small(), small()
    seen = [first.measure(point) for _ in range(6)]
    assert sorted(seen[:3]) == [7.0, 8.0, 9.0]
    assert seen[3:] == seen[:3]
    again.measure({"x": 0.0, "n": 1, "kind": "a"})
    assert [again.measure(point) for _ in range(3)] == seen[:3]
    others = [[small(s).measure(point) for s in range(20)]]
    assert len(set(others[0])) > 1


def test_a_method_sees_measurements_and_the_record_holds_the_truth():
    recorder = Recorder(small(), budget=2)
    point = {"x": 0.0, "n": 1, "kind": "a"}
    seen = {recorder(point), recorder(point)}
    assert seen == {1.0, 3.0}
    assert recorder.values == [2.0, 2.0]
    assert recorder.points == [[0.0, 1, "a"]] * 2


def test_the_best_percent_has_a_regret_below_the_threshold():
    space = {"x": (0.0, 1.0)}
    values = np.append(np.zeros(3), np.arange(1.0, 298.0))[:, None]
    table = RealTable("t", space, np.linspace(0, 1, 300)[:, None], values)
    assert table.best_percent == 1.0
    assert (table.values - table.optimum < table.best_percent).sum() == 3
    assert not table.is_noisy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "bo_tables").mkdir()
    (tmp_path / "hpo").mkdir()
    described = {
        "parameters": [{"name": "p"}, {"name": "q"}, {"name": "r"}],
        "measurements": ["loss"],
        "default_goal": "maximize",
    }
    meta = tmp_path / "bo_tables" / "meta.json"
    meta.write_text(json.dumps({"pvlab_agnp": described}))
    rows = [[20, 30, 50, 1.0], [20, 30, 50, 2.0], [60, 31, 9.5, 5.0]]
    table = pd.DataFrame(rows, columns=["p", "q", "r", "loss"])
    table.to_csv(tmp_path / "bo_tables" / "pvlab_agnp.csv.gz", index=False)
    np.savez(
        tmp_path / "hpo" / "hpobench_australian.npz",
        config=np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.uint8),
        param_names=np.array(["rate", "act"]),
        choices=json.dumps({"rate": [0.5, 1], "act": ["relu", "tanh"]}),
        val_acc=np.array([[0.5, 0.7], [0.9, 0.8], [0.1, 0.1], [0.2, NAN]], np.float32),
    )
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    for read in (real_tables._materials, real_tables._networks):
        read.cache_clear()
    yield tmp_path
    for read in (real_tables._materials, real_tables._networks):
        read.cache_clear()


def test_materials_are_grouped_by_design_and_a_mixture_loses_its_last_part(folder):
    table = real_table("agnp", 0)
    assert list(table.space) == ["x1", "x2"]
    assert table.space["x1"] == (20.0, 60.0)
    assert sorted(table.values.tolist()) == [-5.0, -1.5]


def test_networks_are_choices_with_and_without_order(folder):
    table = real_table("hpobench_australian", 0)
    assert table.space == {"rate": [0.5, 1.0], "act": choice("relu", "tanh")}
    assert table.optimum == pytest.approx(0.15)
    assert table({"rate": 1.0, "act": "tanh"}) == pytest.approx(0.8)


@pytest.mark.parametrize("name", REAL_TABLES)
def test_each_design_stands_for_itself(name):
    lacking = missing(list(REAL_TABLES[name].files))
    if lacking:
        pytest.skip(lacking)
    table = real_table(name, 0)
    assert np.isfinite(table.values).all()
    rows = np.random.default_rng(0).permutation(len(table._designs))[:20]
    for row in [*rows.tolist(), int(table.values.argmin())]:
        point = {
            p.name: float(x) if p.values == () else p.values[int(x)]
            for p, x in zip(table._parameters, table._designs[row], strict=True)
        }
        there = table._designs[table.nearest(point)]
        np.testing.assert_allclose(there, table._designs[row])
    assert len(np.unique(table._designs, axis=0)) == len(table._designs)
