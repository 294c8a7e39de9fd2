"""``structures="auto"``: a short search, again when the data have grown."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from ax.core.parameter import ParameterType, RangeParameter
from ax.core.search_space import SearchSpace

from bokern.ax import generation_strategy, searching
from bokern.ax.choice import drawn, weights
from bokern.ax.searching import MAX_NODES, grammar_of
from bokern.errors import FitWarning
from bokern.structures import parse
from tests.ax.conftest import advance, make_client, record

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def _briefly(monkeypatch):
    """Searches without expansion and with few starts: what they find is not tested."""
    monkeypatch.setattr(searching, "PLAN", replace(searching.PLAN, rounds=0))
    effort = replace(searching.EFFORT, starts=2, thinned=8)
    monkeypatch.setattr(searching, "EFFORT", effort)


def symmetric(p):
    return {"y": math.sin(4 * (p["a"] + p["b"])) + p["a"] * p["b"]}


def test_it_declines_at_first_then_searches_and_says_why():
    client = make_client(generation_strategy(initial=5, selection="winner"))
    advance(client, 8, symmetric)
    first = record(client)
    assert (first.offered, first.searched_at, first.incumbents) == (["auto"], {}, {})
    assert first.why == {"y": "7 observations are too few"}
    advance(client, 2, symmetric)
    found = record(client)
    assert found.searched_at == {"y": 9}
    assert found.why["y"].startswith("9 observations: The data show")
    (best,) = found.incumbents["y"]
    assert found.chosen == found.incumbents
    assert best in found.evidence["y"]
    assert set(found.evidence["y"][best]) == {
        "log_evidence",
        "standard_error",
        "probability",
    }
    assert len(found.evidence["y"]) >= 4


def test_it_searches_again_when_the_data_have_grown_by_a_fifth(monkeypatch):
    monkeypatch.setattr("bokern.ax.node.symmetry_trial", lambda *_: None)
    client = make_client(generation_strategy(initial=9, selection="winner"))
    advance(client, 11, symmetric)
    assert record(client).searched_at == {"y": 9}
    advance(client, 1, symmetric)
    assert record(client).searched_at == {"y": 11}


def test_like_parameters_are_offered_a_symmetry():
    client = make_client(generation_strategy(initial=12, selection="winner", seed=3))
    advance(client, 13, symmetric)
    assert any("Invariant" in text for text in record(client).evidence["y"])


def test_refits_start_from_the_last_fit():
    client = make_client(generation_strategy("RBF()", initial=4))
    advance(client, 5)
    known = record(client)
    # A single structure has no metric of its own in the record.
    assert known.warm == {}
    client = make_client(
        generation_strategy(["RBF()", "Linear()"], initial=4, selection="winner")
    )
    advance(client, 6)
    (text,) = record(client).chosen["y"]
    assert len(record(client).theta["y"][text]) == 5
    assert record(client).rows == 5


def test_a_structure_is_drawn_for_each_trial():
    strategy = generation_strategy(
        ["RBF()", "Matern(2.5)", "Matern(1.5)"], initial=4, selection="draw"
    )
    client = make_client(strategy)
    advance(client, 10)
    runs = [record_of_trial(client, i) for i in range(4, 10)]
    assert all(len(r.chosen["y"]) == 1 for r in runs)
    assert all(set(r.chosen["y"]) <= set(r.incumbents["y"]) for r in runs)
    assert len({text for r in runs for text in r.chosen["y"]}) > 1


def record_of_trial(client, index):
    from bokern.ax.record import record_of

    return record_of(client._experiment.trials[index].generator_runs[0])


def test_draws_follow_the_weights_and_the_seed():
    chosen = {"a": 0.7, "b": 0.3}
    texts = [next(iter(drawn(chosen, 5, i))) for i in range(2000)]
    assert abs(texts.count("a") / 2000 - 0.7) < 4 * math.sqrt(0.21 / 2000)
    assert drawn(chosen, 1, "x") == drawn(chosen, 1, "x")


def test_the_same_run_twice():
    def values(seed):
        client = make_client(
            generation_strategy(initial=9, selection="draw", seed=seed)
        )
        advance(client, 11, symmetric)
        return [t.arm.parameters for t in client._experiment.trials.values()]

    assert values(1) == values(1)


def test_a_failed_search_keeps_the_baseline(monkeypatch):
    def search(*args, **kwargs):
        raise RuntimeError("no evidence")

    monkeypatch.setattr("bokern.ax.comparing.searched", search)
    client = make_client(generation_strategy(initial=9))
    with pytest.warns(FitWarning, match="no evidence.*Kept the structures in use"):
        advance(client, 10, symmetric)
    assert (record(client).used, record(client).searched_at) == ("structure", {"y": 9})
    # It is not tried again before the data have grown by a fifth.
    advance(client, 1, symmetric)
    assert (record(client).reasons, record(client).searched_at) == ([], {"y": 9})
    with pytest.warns(FitWarning, match="no evidence"):
        advance(client, 1, symmetric)
    assert record(client).searched_at == {"y": 11}


def space(*parameters):
    return SearchSpace(list(parameters))


def number(name, low, high, log=False):
    return RangeParameter(name, ParameterType.FLOAT, low, high, log_scale=log)


def test_only_like_parameters_may_be_interchanged():
    declared = space(
        number("a", 0, 1),
        number("rate", 1e-5, 1, log=True),
        number("b", 0, 1),
        number("other", 1e-5, 1),
    )
    grammar = grammar_of(["a", "b", "rate", "other", "kind_0", "kind_1"], declared, 30)
    assert grammar.dim == 6
    assert grammar.blocks == ((0, 1),)
    assert grammar.max_nodes == MAX_NODES


def test_weights_of_a_mixture_are_few_and_sum_to_one():
    class Found:
        best = parse("RBF()")

        def averaged(self):
            class Member:
                def __init__(self, text):
                    self.structure = parse(text)

            texts = ["RBF()", "Linear()", "DeepSE()", "Matern(0.5)", "Matern(1.5)"]
            return [Member(t) for t in texts], [0.4, 0.3, 0.15, 0.1, 0.05]

    mixed = weights(Found(), "mixture")
    assert list(mixed) == ["RBF()", "Linear()", "DeepSE()", "Matern(0.5)"]
    assert np.isclose(sum(mixed.values()), 1.0)
    assert len(weights(Found(), "draw")) == 5
    assert weights(Found(), "winner") == {"RBF()": 1.0}


def test_what_is_recorded_of_a_trial_stays_as_it_was():
    strategy = generation_strategy(["RBF()", "Matern(1.5)"], initial=4)
    client = make_client(strategy)
    advance(client, 5)
    before = record_of_trial(client, 4).to_json()
    advance(client, 3)
    assert record_of_trial(client, 4).to_json() == before
    assert record(client).searched_at["y"] > before["searched_at"]["y"]


def test_hyperparameters_of_structures_not_drawn_are_kept():
    strategy = generation_strategy(["RBF()", "Matern(2.5)", "Matern(1.5)"], initial=4)
    client = make_client(strategy)
    advance(client, 6)
    found = record(client)
    assert set(found.warm["y"]) >= set(found.incumbents["y"])


def test_costly_groups_are_not_proposed_within_a_run():
    names = [f"x{i}" for i in range(6)]
    grammar = grammar_of(names, space(*(number(n, 0, 1) for n in names)), 40)
    assert grammar.max_order <= 24
