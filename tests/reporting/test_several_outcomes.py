"""Several objectives, and constraints on outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from bokern.errors import InputError
from bokern.optimize import Trial
from bokern.optimize.constraints import read_linear
from bokern.reporting import (
    caption_of,
    optimization_history,
    outcome_limits,
    pareto_front,
    regret,
)
from bokern.reporting.progress import course
from tests.reporting.fakes import FakeOptimization, make_course, make_optimization

WAYS = {"loss": "minimize", "speed": "maximize"}


def outcomes(point: dict) -> dict[str, float]:
    x, y = point["x"], point["y"]
    return {"loss": x**2 + y, "speed": x + 0.2 * y, "memory": x + y}


@pytest.fixture
def result() -> FakeOptimization:
    found = make_course(
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        outcomes,
        24,
        failed=[5],
        objectives=WAYS,
        outcome_constraints=(read_linear("memory <= 1.2"),),
    )
    done = found.trials.dropna(subset="loss")
    kept = done[done["memory"] <= 1.2]
    best = [
        row
        for row in kept.to_dict("records")
        if not any(
            other["loss"] <= row["loss"]
            and other["speed"] >= row["speed"]
            and other["trial"] != row["trial"]
            for other in kept.to_dict("records")
        )
    ]
    found.pareto = tuple(
        Trial(
            row["trial"],
            {n: row[n] for n in ("x", "y")},
            "completed",
            {n: row[n] for n in ("loss", "speed", "memory")},
        )
        for row in best
    )
    return found


def test_the_front_is_marked_and_bounded_by_a_staircase(
    result: FakeOptimization,
) -> None:
    figure = pareto_front(result)
    named = {trace.name: trace for trace in figure.data if trace.name}
    front = {trial.id for trial in result.pareto}
    assert set(named["beaten by none"].customdata) == front
    trials = result.trials
    broken = trials.index[trials["memory"] > 1.2]
    assert set(named["breaks a constraint"].customdata) == set(broken)
    shown = sum(len(trace.x) for trace in named.values())
    assert shown == 23
    (stairs,) = (t for t in figure.data if t.mode == "lines")
    assert np.all(np.diff(stairs.x) >= 0)
    assert np.all(np.diff(stairs.y) >= 0)
    text = caption_of(figure)
    assert "loss is minimised, speed is maximised" in text
    assert "1 failed trials" in text


def test_three_objectives_take_a_panel_a_pair(result: FakeOptimization) -> None:
    result.objectives = {**WAYS, "memory": "minimize"}
    figure = pareto_front(result)
    axes = [figure.layout[f"xaxis{n}"].title.text for n in ("", 2, 3)]
    assert axes == ["loss (minimize)", "loss (minimize)", "speed (maximize)"]
    assert not [t for t in figure.data if t.mode == "lines"]


def test_a_history_for_each_objective(result: FakeOptimization) -> None:
    loss, speed = course(result), course(result, "speed")
    assert (loss.sign, speed.sign) == (1, -1)
    kept = result.trials[result.trials["memory"] <= 1.2]
    assert loss.best[-1] == kept["loss"].min()
    assert speed.best[-1] == kept["speed"].max()
    figure = optimization_history(result, objective="speed")
    assert figure.layout.yaxis.title.text == "speed"
    broken = int((result.trials["memory"] > 1.2).sum())
    assert f"Hollow: {broken} break a constraint" in caption_of(figure)
    symbols = [s for t in figure.data if t.name == "sobol" for s in t.marker.symbol]
    assert symbols.count("square-open") == broken
    with pytest.raises(InputError, match=r"an objective among \['loss', 'speed'\]"):
        optimization_history(result, objective="memory")


def test_limits_say_which_trials_keep_them(result: FakeOptimization) -> None:
    figure = outcome_limits(result)
    kept, broken = figure.data
    trials = result.trials
    assert set(kept.x) == set(trials.index[trials["memory"] <= 1.2])
    assert set(broken.x) == set(trials.index[trials["memory"] > 1.2])
    assert figure.layout.shapes[0].y0 == 1.2
    assert f"{len(kept.x)} of 23 completed trials" in caption_of(figure)
    assert "memory ≤ 1.2" in caption_of(figure)
    result.outcome_constraints = (
        read_linear("2*memory >= 1"),
        read_linear("speed <= 1"),
    )
    assert [line.y0 for line in outcome_limits(result).layout.shapes] == [0.5, 1.0]


def test_refuses_what_does_not_apply(result: FakeOptimization) -> None:
    with pytest.raises(InputError, match=r"expected one objective, got \['loss'"):
        regret(result)
    with pytest.raises(InputError, match="two objectives or more"):
        pareto_front(make_optimization())
    with pytest.raises(InputError, match="constraints on outcomes, got none"):
        outcome_limits(make_optimization())
    result.trials["status"] = "failed"
    for draw in (pareto_front, outcome_limits):
        with pytest.raises(InputError, match="none completed"):
            draw(result)
