"""Past trials from tables, Ax and Optuna, and back."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig

import bokern.ax
from bokern import Study, choice
from bokern.errors import DataError
from bokern.optimize.quiet import quiet_ax

SQUARE = {"x": (0.0, 1.0), "n": (1, 5), "k": choice("a", "b")}


def frame(**changes):
    columns = {
        "k": ["a", "b", "a"],
        "n": [1, 2, 5],
        "value": [0.5, 0.25, 2.0],
        "x": [0.1, 0.2, 0.3],
    }
    return pd.DataFrame({**columns, **changes})


def test_a_table_with_shuffled_columns():
    study = Study(None, SQUARE)
    study.add(frame())
    assert study.trials["value"].tolist() == [0.5, 0.25, 2.0]
    assert study.trials["n"].tolist() == [1, 2, 5]
    assert "value_sem" not in study.trials
    assert dict(study.best.parameters) == {"x": 0.2, "n": 2, "k": "b"}


def test_what_a_study_exports_another_takes(tmp_path):
    one = Study(None, {**SQUARE, "fixed": 3}, "maximize")
    one.add(frame())
    one.fail(one.ask(), "burst")
    one.tell(one.ask(), 1.0, 0.5)
    one.ask()
    one.trials.to_csv(tmp_path / "trials.csv", index=False)
    other = Study(None, {**SQUARE, "fixed": 3}, "maximize")
    other.add(pd.read_csv(tmp_path / "trials.csv"))
    assert len(other) == 5
    assert other.trials["value_sem"].tolist()[4] == 0.5
    columns = ["x", "n", "k", "fixed", "value", "value_sem", "status", "reason"]
    pd.testing.assert_frame_equal(
        other.trials[columns], one.trials[columns].iloc[:5], check_dtype=False
    )


def test_standard_errors_and_failures():
    study = Study(None, SQUARE)
    found = study.add(
        frame(
            value_sem=[0.1, math.nan, 0.0],
            status=["completed", "completed", "failed"],
            reason=["", "", "hot"],
        )
    )
    assert [t.sems.get("value") for t in found] == [0.1, None, None]
    assert (found[2].status, found[2].reason) == ("failed", "hot")


def test_many_rows_are_added_in_one_go(tmp_path):
    rng = np.random.default_rng(0)
    count = 2500
    table = pd.DataFrame(
        {
            "x": rng.random(count),
            "n": rng.integers(1, 6, count),
            "k": rng.choice(["a", "b"], count),
            "value": rng.random(count),
        }
    )
    study = Study(tmp_path / "run.db", SQUARE)
    study.add(table)
    assert study._state.number == 1 + 3
    again = Study(tmp_path / "run.db")
    assert again.trials["x"].tolist() == table["x"].tolist()


def ax_client(**outcomes):
    with quiet_ax():
        client = Client()
        client.configure_experiment(
            [RangeParameterConfig(name="x", bounds=(0.0, 1.0), parameter_type="float")]
        )
        client.configure_optimization(objective=f"-{next(iter(outcomes))}")
        if len(outcomes) > 1:
            client.configure_tracking_metrics(list(outcomes)[1:])
        for k in range(3):
            index = client.attach_trial({"x": 0.1 * k})
            data = {name: (k + i, 0.5) for i, name in enumerate(outcomes)}
            client.complete_trial(index, raw_data=data)
        client.mark_trial_failed(client.attach_trial({"x": 0.9}), "hot")
        client.attach_trial({"x": 0.95})
    return client


def test_an_ax_client_or_experiment():
    client = ax_client(loss=None)
    for source in (client, client._experiment):
        study = Study(None, {"x": (0.0, 1.0)})
        found = study.add(source)
        assert [t.status for t in found] == ["completed"] * 3 + ["failed"]
        assert [t.value for t in found[:3]] == [0, 1, 2]
        assert found[0].sems == {"value": 0.5}
        assert found[3].reason == "hot"


def test_an_ax_client_with_more_metrics():
    client = ax_client(loss=None, cost=None)
    study = Study(None, {"x": (0.0, 1.0)}, {"cost": "minimize"})
    assert [t.value for t in study.add(client)[:3]] == [1, 2, 3]
    with pytest.raises(DataError, match="missing"):
        Study(None, {"x": (0.0, 1.0)}, {"gain": "minimize"}).add(client)


def test_to_ax_and_back(tmp_path):
    one = Study(None, {"x": (0.0, 1.0), "gamma": (0.0, 1.0)}, initial=3)
    for _ in range(4):
        trial = one.ask()
        one.tell(trial, sum(trial.parameters.values()))
    one.client.save_to_json_file(str(tmp_path / "ax.json"))
    client = bokern.ax.load(tmp_path / "ax.json")
    other = Study(None, {"x": (0.0, 1.0), "gamma": (0.0, 1.0)})
    other.add(client)
    # Ax writes ten digits.
    assert other.trials["value"].tolist() == pytest.approx(one.trials["value"].tolist())
    with quiet_ax():
        assert len(client.get_next_trials(1)) == 1


def test_an_ax_snapshot_with_constraints(tmp_path):
    one = Study(
        None,
        {"x": (0.0, 1.0), "y": (0.0, 1e-3)},
        constraints=["x + 1000*y <= 1"],
        outcome_constraints=["cost <= 1e-5"],
        initial=2,
    )
    one.tell(one.ask(), {"value": 1.0, "cost": 0.0})
    one.client.save_to_json_file(str(tmp_path / "ax.json"))
    experiment = bokern.ax.load(tmp_path / "ax.json")._experiment
    (constraint,) = experiment.search_space.parameter_constraints
    scale = constraint.constraint_dict["x"]
    assert constraint.constraint_dict["y"] == pytest.approx(1000.0 * scale)
    assert constraint.bound == pytest.approx(scale)
    (outcome,) = experiment.optimization_config.outcome_constraints
    assert outcome.bound == pytest.approx(1e-5)


def test_an_optuna_study():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    source = optuna.create_study()

    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        trial.suggest_int("n", 1, 5)
        trial.suggest_categorical("k", ["a", "b"])
        if trial.number == 2:
            raise optuna.TrialPruned
        return x

    source.optimize(objective, n_trials=4)
    study = Study(None, SQUARE)
    found = study.add(source)
    assert [t.status for t in found] == ["completed"] * 2 + ["failed", "completed"]
    assert found[0].value == source.trials[0].value
    assert found[2].reason == "pruned in Optuna"
    with pytest.raises(DataError, match="no outcomes beside"):
        Study(None, SQUARE, outcome_constraints=["cost <= 1"]).add(source)
