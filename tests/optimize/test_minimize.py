"""The whole loop, on tiny budgets."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from ax.core.experiment import Experiment
from ax.generation_strategy.generation_strategy import GenerationStrategy

from bokern.ax import StructureNode
from bokern.errors import GroupError, SpaceError, StorageError
from bokern.optimize import choice, minimize, mirror

pytestmark = pytest.mark.integration
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
ONE = {"structures": "Matern(2.5)"}


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.6) ** 2


@pytest.fixture(scope="module")
def result():
    return minimize(bowl, SQUARE, 9, structures=["Matern(2.5)", "RBF()"], optimum=0.0)


def test_the_result(result):
    trials = result.trials
    assert list(trials["trial"]) == list(range(9))
    assert result.best_value == trials["value"].min() == bowl(**result.best_parameters)
    assert result.regret == result.best_value
    assert list(trials["generator"][:4]) == ["sobol"] * 4
    assert set(trials["generator"][4:]) <= {"Matern(2.5)", "RBF()"}
    assert (trials["status"] == "completed").all()
    assert len(result.comparison.table) == 2
    assert result.comparison.target_name == "objective"
    assert len(result.client._experiment.trials) == 9


def test_its_text_html_and_json(result, tmp_path):
    assert "best value" in str(result)
    assert "regret" in str(result)
    assert result._repr_html_().count("<table") == 1
    path = tmp_path / "result.json"
    document = json.loads(result.to_json(path))
    assert json.loads(path.read_text()) == document
    assert document["best_value"] == result.best_value
    assert document["space"]["x"]["bounds"] == [0.0, 1.0]
    assert len(document["trials"]) == 9
    with pytest.raises(StorageError, match="cannot be written"):
        result.to_json(tmp_path)


def test_the_same_seed_gives_the_same_trials(result):
    again = minimize(bowl, SQUARE, 9, structures=["Matern(2.5)", "RBF()"])
    assert list(again.trials["value"]) == list(result.trials["value"])
    other = minimize(bowl, SQUARE, 4, seed=1, **ONE)
    assert other.trials["value"][0] != result.trials["value"][0]


def test_given_points_come_first():
    points = [{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.8}, {"x": 0.5, "y": 0.5}]
    found = minimize(bowl, SQUARE, 5, initial=points, **ONE)
    assert found.trials[["x", "y"]][:3].to_dict("records") == points
    assert list(found.trials["generator"]) == ["initial"] * 3 + ["Matern(2.5)"] * 2


def test_a_number_of_initial_points():
    found = minimize(bowl, SQUARE, 5, initial=3, **ONE)
    assert list(found.trials["generator"]) == ["sobol"] * 3 + ["Matern(2.5)"] * 2


def test_failed_trials_are_listed_with_their_reasons():
    def sometimes(x, y):
        if x > 0.6:
            raise RuntimeError("burst")
        return math.nan if y > 0.8 else bowl(x, y)

    found = minimize(sometimes, SQUARE, 8, initial=5, **ONE)
    failed = found.trials[found.trials["status"] == "failed"]
    assert len(failed) > 0
    assert set(failed["reason"]) <= {
        "RuntimeError: burst",
        "expected a finite number as value, got nan",
    }
    assert failed["value"].isna().all()
    assert f"{len(failed)} of 8 trials failed" in str(found)


def test_all_trials_fail():
    found = minimize(lambda p: None, SQUARE, 4, **ONE)
    assert found.best_parameters == {}
    assert math.isnan(found.best_value)
    assert "none of 4 trials succeeded" in str(found)
    assert json.loads(found.to_json())["best_value"] is None


def test_an_exhausted_space_stops_early():
    space = {"n": [1, 2, 3], "kind": choice("a", "b")}
    found = minimize(lambda n, kind: n + (kind == "a"), space, 20, initial=3, **ONE)
    assert len(found.trials) == 6
    assert found.best_parameters == {"n": 1, "kind": "b"}
    assert "no point of the space is left" in found.notes[0]


def test_a_space_is_used_up_by_failures_too_and_without_a_long_search(monkeypatch):
    def gen_single_trial(self, *args, **kwargs):
        raise AssertionError("Ax draws ten thousand points for a fourth one")

    monkeypatch.setattr(GenerationStrategy, "gen_single_trial", gen_single_trial)
    found = minimize(lambda x: 1 / (x - 2), {"x": [1, 2, 3]}, 8, **ONE)
    assert sorted(found.trials["x"]) == [1, 2, 3]
    assert found.best_parameters == {"x": 1}


def test_gp_ucb_options_are_passed_on():
    runs = [
        minimize(
            bowl,
            SQUARE,
            5,
            acquisition="gp-ucb",
            acquisition_options={"scale": scale},
            **ONE,
        )
        for scale in (1e-4, 5.0)
    ]
    assert runs[0].trials["x"][4] != runs[1].trials["x"][4]


def test_numbers_of_numpy():
    found = minimize(
        lambda n, r: n + r,
        {
            "n": (np.int64(0), np.int64(5)),
            "r": [np.float64(1.5), np.int32(2)],
        },
        np.int64(3),
        initial=np.int64(3),
        seed=np.int64(1),
        optimum=np.float32(1.5),
        **ONE,
    )
    assert len(found.trials) == 3
    assert {type(n) for n in found.trials["n"].tolist()} == {int}
    document = json.loads(found.to_json())
    assert document["space"]["n"] == {"kind": "int", "bounds": [0, 5], "log": False}


def test_mixed_space_with_gp_ucb():
    space = {"lr": (1e-4, 1.0, "log"), "n": (1, 8), "kind": choice("a", "b", "c")}
    found = minimize(
        lambda lr, n, kind: abs(math.log10(lr) + 2) + n + (kind == "a"),
        space,
        7,
        acquisition="gp-ucb",
        initial=5,
        **ONE,
    )
    assert (found.trials["status"] == "completed").all()
    assert all(isinstance(n, int) for n in found.trials["n"].tolist())


def test_an_error_of_the_loop_carries_the_result(monkeypatch):
    original, fits = StructureNode._fit, []

    def fit(self, *args, **kwargs):
        fits.append(1)
        if len(fits) == 2:
            raise GroupError("too late")
        original(self, *args, **kwargs)

    monkeypatch.setattr(StructureNode, "_fit", fit)
    with pytest.raises(GroupError, match="too late") as caught:
        minimize(bowl, SQUARE, 10, initial=3, **ONE)
    found = caught.value.result
    assert len(found.trials) == 4
    assert found.best_value == found.trials["value"].min()
    assert found.notes == ("stopped by GroupError after 4 of 10 trials",)


def test_an_error_before_the_first_trial_carries_an_empty_result(monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("at once")

    monkeypatch.setattr(mirror, "initial_point", fail)
    with pytest.raises(RuntimeError, match="at once") as caught:
        minimize(bowl, SQUARE, 10, **ONE)
    assert caught.value.result.notes == (
        "stopped by RuntimeError after 0 of 10 trials",
    )


def test_a_value_is_kept_though_ax_cannot_take_it(monkeypatch):
    def attach_data(self, *args, **kwargs):
        raise RuntimeError("no room")

    monkeypatch.setattr(Experiment, "attach_data", attach_data)
    with pytest.raises(RuntimeError, match="no room") as caught:
        minimize(bowl, SQUARE, 10, **ONE)
    assert len(caught.value.result.trials) == 1


def test_kernels_are_built_before_anything_is_evaluated():
    calls = []
    with pytest.raises(GroupError, match="double sum over 720"):
        minimize(
            lambda p: calls.append(p),
            {f"x{i}": (0.0, 1.0) for i in range(6)},
            20,
            structures=["RBF()", "Invariant(RBF(), permutations(6), tied=False)"],
        )
    assert calls == []


def test_silent_in_a_pipe_and_progress_on_request(capfd):
    minimize(bowl, SQUARE, 2, **ONE)
    assert capfd.readouterr() == ("", "")
    minimize(bowl, SQUARE, 2, progress=True, **ONE)
    out, err = capfd.readouterr()
    assert out == ""
    assert "best" in err


@pytest.mark.parametrize("budget", [-1, 0, 2.5, True, None, "3"])
def test_bad_budgets(budget):
    with pytest.raises(SpaceError, match="whole number of 1 or more"):
        minimize(bowl, SQUARE, budget)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"initial": 0}, SpaceError, "at least 1"),
        ({"initial": 9}, SpaceError, "at most the budget"),
        ({"initial": []}, SpaceError, "at least 1"),
        ({"initial": "x"}, SpaceError, "list of dictionaries"),
        ({"acquisition": "pi"}, SpaceError, "expected one of"),
        ({"acquisition_options": {"delta": 0.1}}, SpaceError, "it takes none"),
    ],
)
def test_bad_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        minimize(bowl, SQUARE, 4, **arguments)


def test_groups_are_checked_before_anything_is_evaluated():
    calls = []
    space = {"x": (0.0, 1.0), "y": (0.0, 2.0)}
    with pytest.raises(GroupError, match="same type, bounds and scale"):
        minimize(
            lambda x, y: calls.append(x),
            space,
            4,
            structures="Invariant(RBF(), swap('x', 'y'))",
        )
    assert calls == []
