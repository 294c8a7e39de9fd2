"""What a node knows of the structures: forgotten, read back, compared by metric."""

from __future__ import annotations

import math

import pandas as pd
import pytest
import torch
from ax.core.parameter import ParameterType, RangeParameter
from ax.core.search_space import SearchSpace

from bokern.ax import StructureNode, generation_strategy, searching
from bokern.ax.memory import Memory
from bokern.ax.record import KEY, StructureRecord
from bokern.ax.training import MetricData
from bokern.errors import ColumnError, FitWarning
from tests.ax.conftest import advance, branin_like, make_client, node, record

pytestmark = pytest.mark.integration
TWO = ["Matern(2.5)", "RBF()"]
GONE = "RBF(columns=['gone'])"


def plant(client, **changes):
    """Rewrites the newest record."""
    run = client._experiment.trials[max(client._experiment.trials)].generator_runs[0]
    run._gen_metadata[KEY] = {**run.gen_metadata[KEY], **changes}


@pytest.mark.parametrize("text", [GONE, "no structure at all"])
def test_structures_found_that_fit_no_more_are_searched_for_anew(monkeypatch, text):
    seen = []

    def searched(metric, space, known, seed, executor):
        seen.append(dict(known))
        return searching.compared(metric, [*map(searching.as_structure, TWO)], seed)

    monkeypatch.setattr("bokern.ax.comparing.searched", searched)
    client = make_client(generation_strategy(initial=9))
    advance(client, 10)
    plant(client, incumbents={"y": {text: 1.0}})
    with pytest.warns(FitWarning, match="do not fit the search space.*dropped them"):
        advance(client, 1)
    assert len(seen) == 2
    assert seen[-1] == {}
    assert set(record(client).incumbents["y"]) <= set(TWO)
    assert (record(client).used, record(client).searched_at) == ("structure", {"y": 10})


def test_structures_given_that_do_not_fit_still_end_the_run():
    client = make_client(generation_strategy([GONE, "RBF()"], initial=3))
    with pytest.raises(ColumnError, match="gone"):
        advance(client, 4)


@pytest.mark.parametrize(
    "changes", [{"incumbents": 3}, {"warm": {"y": 1}}, {"searched_at": "six"}]
)
def test_a_damaged_record_never_ends_a_run(changes):
    client = make_client(generation_strategy(TWO, initial=4))
    advance(client, 5)
    plant(client, **changes)
    with pytest.warns(FitWarning, match="cannot be read"):
        advance(client, 1)
    assert record(client).used == "structure"
    assert set(record(client).evidence["y"]) == set(TWO)


def test_metrics_are_compared_at_their_own_times(monkeypatch):
    tried = []

    def compared(metric, structures, seed):
        tried.append((metric.metric, len(metric.y)))
        if metric.metric == "cost":
            raise RuntimeError("no evidence")
        return searching.compared(metric, structures, seed)

    monkeypatch.setattr("bokern.ax.comparing.compared", compared)
    client = make_client(
        generation_strategy(TWO, initial=5), constraints=["cost <= 1.2"]
    )
    values = lambda p: {"y": branin_like(p), "cost": p["a"]}  # noqa: E731
    advance(client, 5, values)
    with pytest.warns(FitWarning, match="no comparison for cost"):
        advance(client, 1, values)
    assert record(client).searched_at == {"y": 5, "cost": 5}
    # Less was known of one of them.
    plant(client, searched_at={"y": 5, "cost": 4})
    node(client).memory.searched_at = {}
    tried.clear()
    plant(client, searched_at={"y": 6, "cost": 4})
    with pytest.warns(FitWarning, match="no comparison for cost"):
        advance(client, 1, values)
    assert tried == [("cost", 6)]
    assert record(client).searched_at == {"y": 6, "cost": 6}


def test_the_newer_of_memory_and_record_counts():
    older = StructureRecord(["auto"], "draw", searched_at={"y": 5})
    assert Memory().is_behind(older)
    assert Memory(searched_at={"y": 5}).is_behind(older)
    assert not Memory(searched_at={"y": 6}).is_behind(older)
    assert not Memory(searched_at={"cost": 5}).is_behind(older)


def test_nodes_stored_with_one_time_for_all_metrics():
    weights = {"y": {"RBF()": 1.0}, "cost": {"RBF()": 1.0}}
    one = StructureNode("node", TWO, incumbents=weights, searched_at=7)
    assert one.memory.searched_at == {"y": 7, "cost": 7}
    again = StructureNode("node", TWO, incumbents=weights, searched_at={"y": 7})
    assert again.to_json()["searched_at"] == {"y": 7}


@pytest.mark.parametrize("length", [0, 2, 9])
def test_hyperparameters_of_another_length_are_ignored(monkeypatch, length):
    monkeypatch.setattr(
        searching, "EFFORT", searching.replace(searching.EFFORT, starts=2, thinned=8)
    )
    monkeypatch.setattr(
        searching, "PLAN", searching.replace(searching.PLAN, rounds=0, confirmed=0)
    )
    x = torch.linspace(0, 1, 9, dtype=torch.float64)
    y = (9 * x).sin()
    metric = MetricData("y", pd.DataFrame({"a": x.numpy()}), y, None, [(0.0, 1.0)])
    space = SearchSpace([RangeParameter("a", ParameterType.FLOAT, 0, 1)])
    known = dict.fromkeys(["Matern(2.5)", "RationalQuadratic()"], [0.1] * length)
    found = searching.searched(metric, space, known, 1)
    assert found.failures == ()
    texts = set(map(str, found.structures))
    assert {"Matern(2.5)", "RationalQuadratic()"} <= texts
    assert all(math.isfinite(e.log_evidence) for e in found.evidences)
