"""A line for each trial, through its values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bokern.errors import InputError
from bokern.optimize import choice
from bokern.optimize.constraints import read_linear
from bokern.reporting import caption_of, parallel_coordinates
from bokern.reporting.parallel import MOST_LINES
from tests.reporting.fakes import make_course

SPACE = {
    "x": (2.0, 4.0),
    "lr": (1e-4, 1e-2, "log"),
    "kind": choice("relu", "tanh", "elu"),
    "epochs": 10,
}


def loss(point: dict) -> float:
    return (point["x"] - 3.0) ** 2 - math.log10(point["lr"])


def lines(figure):
    return {int(t.name.split()[1]): t for t in figure.data if t.name}


def test_lines_go_through_the_shares_of_the_axes() -> None:
    result = make_course(SPACE, loss, 12, failed=[4])
    figure = parallel_coordinates(result)
    shown = lines(figure)
    assert set(shown) == set(range(12)) - {4}
    trials = result.trials
    done = trials["value"].dropna()
    for number, line in shown.items():
        row = trials.loc[number]
        expected = [
            (row["x"] - 2.0) / 2.0,
            (math.log10(row["lr"]) + 4.0) / 2.0,
            ["relu", "tanh", "elu"].index(row["kind"]) / 2.0,
            (row["value"] - done.min()) / np.ptp(done),
        ]
        np.testing.assert_allclose(line.y, expected, atol=1e-4)
    assert "Left out: 1 failed trials" in caption_of(figure)
    titles = [text.strip("</b>") for text in figure.layout.xaxis.ticktext]
    assert titles == ["x", "lr", "kind", "value"]


@pytest.mark.parametrize(("way", "best"), [("minimize", "min"), ("maximize", "max")])
def test_the_best_lies_on_top(way: str, best: str) -> None:
    result = make_course(SPACE, loss, 12, objectives={"value": way})
    drawn = list(lines(parallel_coordinates(result)))
    value = result.trials["value"]
    assert drawn[-1] == getattr(value, f"idx{best}")()


def test_those_that_break_a_constraint_are_dotted_and_never_best() -> None:
    result = make_course(
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        lambda p: {"value": p["x"], "cost": p["y"] - p["x"]},
        16,
        outcome_constraints=(read_linear("cost <= 0"),),
    )
    figure = parallel_coordinates(result)
    shown = lines(figure)
    broken = result.trials["cost"] > 0
    assert [shown[i].line.dash == "dot" for i in range(16)] == broken.tolist()
    kept = result.trials[~broken]
    assert list(shown)[-1] == kept["value"].idxmin()
    assert f"Dotted: {broken.sum()} trials" in caption_of(figure)


def test_of_very_many_the_best_are_drawn() -> None:
    result = make_course(SPACE, loss, MOST_LINES + 100)
    figure = parallel_coordinates(result)
    shown = lines(figure)
    assert len(shown) == MOST_LINES
    best = result.trials["value"].nsmallest(MOST_LINES // 2).index
    assert set(best) <= set(shown)
    assert f"Drawn are {MOST_LINES} of {MOST_LINES + 100} trials" in caption_of(figure)


def test_one_completed_trial_can_be_drawn() -> None:
    figure = parallel_coordinates(make_course(SPACE, loss, 2, failed=[0]))
    assert list(lines(figure)) == [1]


def test_refuses_one_parameter_and_no_values() -> None:
    with pytest.raises(InputError, match="two parameters or more"):
        parallel_coordinates(make_course({"x": (0.0, 1.0)}, lambda p: p["x"], 4))
    with pytest.raises(InputError, match="none completed"):
        parallel_coordinates(make_course(SPACE, loss, 3, failed=range(3)))
    with pytest.raises(InputError, match="expected an optimisation or a study"):
        parallel_coordinates("study.db")  # type: ignore[arg-type]
