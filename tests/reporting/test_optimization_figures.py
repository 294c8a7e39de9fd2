from __future__ import annotations

import numpy as np
import pytest

from bokern.errors import InputError
from bokern.reporting import caption_of, optimization_history, regret
from bokern.reporting.progress import course
from tests.reporting.fakes import FakeOptimization, make_optimization


def test_best_so_far_ignores_failures(optimization: FakeOptimization) -> None:
    path = course(optimization)
    assert path.best.tolist() == [3.0, 2.0, 2.0, 2.0, 0.4, 0.1, 0.1, 0.02]
    assert path.failed.tolist() == [index == 2 for index in range(8)]


def test_a_value_of_a_failed_trial_does_not_count() -> None:
    result = make_optimization()
    result.trials.loc[2, "value"] = -100.0
    assert course(result).best[-1] == 0.02


MAXIMIZED = {"value": "maximize"}


def test_the_best_of_what_is_maximised_is_the_largest() -> None:
    path = course(make_optimization(best_value=3.0, objectives=MAXIMIZED))
    assert path.sign == -1
    assert path.best.tolist() == [3.0] * 8


def test_history_shows_each_trial_once(optimization: FakeOptimization) -> None:
    figure = optimization_history(optimization)
    marked = [trace for trace in figure.data if trace.mode == "markers"]
    trials = sorted(trial for trace in marked for trial in trace.x)
    assert trials == list(range(8))
    names = [trace.name for trace in marked]
    assert names == ["sobol", "RBF()", "Matern(2.5)", "failed"]
    assert "1 failed" in caption_of(figure)


def test_regret_is_the_distance_from_the_known_optimum() -> None:
    result = make_optimization(optimum=-1.0)
    (trace,) = regret(result).data
    expected = [4.0, 3.0, 3.0, 3.0, 1.4, 1.1, 1.1, 1.02]
    np.testing.assert_allclose(trace.y, expected)
    assert "known optimum" in caption_of(regret(result))


def test_regret_when_maximising() -> None:
    (trace,) = regret(
        make_optimization(best_value=3.0, optimum=3.5, objectives=MAXIMIZED)
    ).data
    np.testing.assert_allclose(trace.y, [0.5] * 8)


def test_without_an_optimum_the_gap_is_drawn_and_said() -> None:
    figure = regret(make_optimization())
    (trace,) = figure.data
    np.testing.assert_allclose(trace.y[:2], [2.98, 1.98])
    assert np.isnan(trace.y[-1])
    assert figure.layout.yaxis.title.text == "gap to the final best"
    assert "optimum is not known" in caption_of(figure)


def test_regret_at_the_optimum_is_said_not_drawn() -> None:
    figure = regret(make_optimization(optimum=0.02))
    assert np.isnan(figure.data[0].y[-1])
    assert "at the optimum to rounding" in caption_of(figure)


def test_all_failed_can_still_be_drawn() -> None:
    result = make_optimization(best_value=float("nan"), best_parameters={})
    result.trials["status"] = "failed"
    optimization_history(result)
    regret(result)


def test_refuses_no_trials() -> None:
    result = make_optimization()
    result.trials = result.trials[:0]
    with pytest.raises(InputError, match=r"with trials, got none"):
        optimization_history(result)
