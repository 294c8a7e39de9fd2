"""The model of an optimisation, in the units of its space."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from bokern.errors import DataError, InputError
from bokern.optimize import choice
from bokern.optimize.constraints import read_linear
from bokern.reporting import modelled, posterior_slices
from bokern.reporting.predicting import predicted, predicted_mean
from bokern.reporting.surrogate import MOST_ROWS
from tests.reporting.fakes import FakeOptimization, make_comparison, make_course

SPACE = {
    "x": (0.0, 1.0),
    "lr": (1e-4, 1e-1, "log"),
    "kind": choice("relu", "tanh"),
    "epochs": 10,
}


def loss(point: dict) -> float:
    bend = (math.log10(point["lr"]) + 2.5) ** 2
    return bend + point["x"] ** 2 + (point["kind"] == "tanh")


@pytest.fixture(scope="module")
def result() -> FakeOptimization:
    return make_course(SPACE, loss, 40, failed=[3, 7])


def board(**probabilities: float) -> pd.DataFrame:
    rows = [(o, s, p) for o, s, p in probabilities.get("rows", [])]
    return pd.DataFrame(rows, columns=["outcome", "structure", "probability"])


def test_reads_all_completed_trials(result: FakeOptimization) -> None:
    data = modelled(result)
    assert len(data.y) == 38
    assert [axis.name for axis in data.axes] == ["x", "lr", "kind"]
    assert data.column_names == ("x", "lr", "kind_OH_PARAM_0", "kind_OH_PARAM_1")
    done = result.trials[result.trials["status"] == "completed"].reset_index(drop=True)
    np.testing.assert_allclose(data.X[:, 1], np.log10(done["lr"]))
    np.testing.assert_allclose(data.X[:, 3], done["kind"] == "tanh")
    assert data.best == int(done["value"].argmin())
    assert data.described == "Matern(2.5)"


def test_it_predicts_the_function_in_raw_units(result: FakeOptimization) -> None:
    data = modelled(result)
    places = np.array([[0.5, 10**-2.5, 0.0], [0.5, 10**-2.5, 1.0], [0.1, 1e-2, 1.0]])
    points = [dict(zip(("x", "lr"), row[:2], strict=True)) for row in places]
    kinds = ["relu", "tanh", "tanh"]
    exact = [loss({**p, "kind": k}) for p, k in zip(points, kinds, strict=True)]
    found = predicted(data, places)
    np.testing.assert_allclose(found.mean, exact, atol=0.15)
    assert (found.low < found.high).all()
    np.testing.assert_allclose(predicted_mean(data, places), found.mean, rtol=1e-9)


def test_takes_the_structure_that_was_supported_best(result: FakeOptimization) -> None:
    rows = [
        ("other", "Linear()", 1.0),
        ("value", "RBF()", 0.7),
        ("value", "DeepSE()", 0.3),
    ]
    ranked = make_course(SPACE, loss, 20, leaderboard=board(rows=rows))
    assert modelled(ranked).described == "RBF()"
    used = make_course(SPACE, loss, 20)
    used.trials.loc[15:, "generator"] = "RBF(columns=['lr'])"
    assert modelled(used).described == "RBF(columns=['lr'])"


def test_a_structure_that_does_not_fit_the_space_is_replaced_and_that_is_said() -> None:
    rows = [("value", "RBF(columns=['gone'])", 1.0)]
    result = make_course(SPACE, loss, 20, leaderboard=board(rows=rows))
    data = modelled(result)
    assert data.described == "Matern(2.5)"
    assert "RBF(columns=['gone']) could not be fitted to the trials" in data.remark


def test_standard_errors_that_were_told_are_the_noise() -> None:
    result = make_course({"x": (0.0, 1.0)}, lambda p: math.sin(6 * p["x"]), 20)
    result.trials["value_sem"] = 0.05 + 0.2 * result.trials["x"]
    model = modelled(result).model
    spread = result.trials["value"].std()
    np.testing.assert_allclose(
        model.likelihood.noise.sqrt().reshape(-1) * spread,
        result.trials["value_sem"],
        rtol=1e-9,
    )
    result.trials.loc[3, "value_sem"] = math.nan
    assert modelled(result).model.likelihood.noise.numel() == 1


def test_standard_errors_that_repeats_contradict_are_inferred() -> None:
    result = make_course({"x": (0.0, 1.0)}, lambda p: math.sin(6 * p["x"]), 20)
    result.trials["value_sem"] = 0.0
    result.trials.loc[1, "x"] = result.trials.loc[0, "x"]
    data = modelled(result)
    assert data.model.likelihood.noise.numel() == 1
    assert "its noise is declared to be 0" in data.remark


def test_the_best_keeps_the_constraints_and_has_the_direction() -> None:
    def two(point: dict) -> dict[str, float]:
        return {"gain": point["x"], "cost": point["x"] + point["y"]}

    result = make_course(
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        two,
        16,
        objectives={"gain": "maximize"},
        outcome_constraints=(read_linear("cost <= 1"),),
    )
    data = modelled(result)
    kept = result.trials[result.trials["cost"] <= 1.0]
    assert data.best == kept["gain"].idxmax()
    cost = modelled(result, "cost")
    assert cost.target_name == "cost"
    np.testing.assert_allclose(cost.y, result.trials["cost"])
    with pytest.raises(InputError, match=r"an outcome among \['gain', 'cost'\]"):
        modelled(result, "speed")


def test_very_many_trials_are_thinned_to_the_best_and_the_last() -> None:
    result = make_course({"x": (0.0, 1.0)}, lambda p: p["x"], MOST_ROWS + 60)
    data = modelled(result)
    assert len(data.y) == MOST_ROWS
    assert "60 of the trials are left out" in data.remark
    value = result.trials["value"]
    assert set(value.nsmallest(MOST_ROWS // 2)) <= set(data.y.tolist())
    assert value.iloc[-1] in data.y.tolist()


def test_refuses_too_little(result: FakeOptimization) -> None:
    with pytest.raises(DataError, match="at least 2 observations"):
        modelled(make_course(SPACE, loss, 5, failed=range(4)))
    with pytest.raises(DataError, match="constant"):
        modelled(make_course(SPACE, lambda p: 1.0, 5))
    with pytest.raises(InputError, match="expected the outcome 'passengers'"):
        modelled(make_comparison(1), "speed")


def test_a_model_once_made_is_drawn_as_it_is(result: FakeOptimization) -> None:
    data = modelled(result)
    assert modelled(data) is data
    once = posterior_slices(data)
    again = posterior_slices(result)
    for one, other in zip(once.data, again.data, strict=True):
        np.testing.assert_allclose(
            np.array(one.y, float), np.array(other.y, float), rtol=1e-9
        )


def test_slices_have_the_scales_of_the_space(result: FakeOptimization) -> None:
    data = modelled(result)
    figure = posterior_slices(data)
    assert figure.layout.xaxis2.type == "log"
    assert figure.layout.xaxis3.ticktext == ("relu", "tanh")
    best = data.places[data.best]
    assert [line.x0 for line in figure.layout.shapes] == best.tolist()
    means = [t for t in figure.data if t.name == "posterior mean"]
    assert list(means[2].x) == [0.0, 1.0]
    points = np.tile(best, (2, 1))
    points[:, 2] = [0.0, 1.0]
    np.testing.assert_allclose(means[2].y, predicted_mean(data, points), rtol=1e-9)


def test_slices_go_through_a_point_of_the_space(result: FakeOptimization) -> None:
    data = modelled(result)
    at = {"x": 0.2, "lr": 1e-3, "kind": "tanh"}
    figure = posterior_slices(data, at=at)
    assert [line.x0 for line in figure.layout.shapes] == [0.2, 1e-3, 1.0]
    with pytest.raises(InputError, match="'kind' is one of"):
        posterior_slices(data, at={**at, "kind": "sine"})
