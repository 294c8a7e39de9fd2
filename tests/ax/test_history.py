"""Structure probabilities by trial, from the records of generator runs."""

from __future__ import annotations

import pytest

import bokern.ax
from bokern.ax.history import COLUMNS
from bokern.optimize import minimize
from bokern.reporting import structure_probabilities
from tests.ax.conftest import advance, make_client

pytestmark = pytest.mark.integration

TWO = ["Matern(2.5)", "RBF()"]


def test_each_trial_after_the_first_comparison_has_its_probabilities(tmp_path) -> None:
    client = make_client(bokern.ax.generation_strategy(TWO, initial=4, seed=1))
    advance(client, 7)
    history = bokern.ax.structure_history(client)
    assert tuple(history.columns) == COLUMNS
    assert sorted(set(history["trial"])) == [4, 5, 6]
    assert set(history["structure"]) == set(TWO)
    assert set(history["metric"]) == {"y"}
    sums = history.groupby("trial")["probability"].sum()
    assert sums.tolist() == pytest.approx([1.0] * 3)
    # 4 observations, then a fifth more than those.
    assert history.groupby("trial")["searched_at"].first().tolist() == [4, 5, 6]
    path = str(tmp_path / "run.json")
    client.save_to_json_file(path)
    stored = bokern.ax.structure_history(bokern.ax.load(path)._experiment)
    assert stored.equals(history)
    assert len(structure_probabilities(history).data) == 2


def test_without_a_comparison_there_is_none() -> None:
    client = make_client(bokern.ax.generation_strategy("RBF()", initial=2, seed=1))
    advance(client, 3)
    history = bokern.ax.structure_history(client)
    assert tuple(history.columns) == COLUMNS
    assert history.empty


def test_a_result_has_the_history_of_its_experiment() -> None:
    space = {"x": (0.0, 1.0)}
    result = minimize(lambda x: (x - 0.3) ** 2, space, 5, structures=TWO, initial=3)
    history = result.structure_history
    assert sorted(set(history["trial"])) == [3, 4]
    assert set(history["metric"]) == {"objective"}
