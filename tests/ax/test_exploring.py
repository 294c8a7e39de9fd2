"""Where a trial goes if the model comes back to a point that was tried."""

from __future__ import annotations

import pytest

from bokern.acquisition import GPUCB, LogEI, Uncertainty
from bokern.ax import generation_strategy
from bokern.ax.acquisition import exploring
from tests.ax.conftest import advance, make_client, record

pytestmark = pytest.mark.integration
TWO = ["Matern(2.5)", "RBF()"]


def corner(p):
    """Noisy enough that the best corner is proposed again and again."""
    wave = 0.3 * ((37.0 * p["a"] + 11.0 * p["b"]) % 1.0)
    return {"y": wave - p["a"] - p["b"]}


def tried(client):
    trials = client._experiment.trials.values()
    return [tuple(t.arm.parameters.values()) for t in trials]


def runs(client):
    from bokern.ax.record import record_of

    trials = client._experiment.trials.values()
    found = [record_of(t.generator_runs[0]) for t in trials]
    return [r for r in found if r is not None]


@pytest.mark.parametrize("selection", ["draw", "mixture"])
def test_a_repeat_gives_way_to_the_least_known_point(selection):
    client = make_client(
        generation_strategy(TWO, selection=selection, initial=4, seed=1)
    )
    advance(client, 14, corner)
    found = runs(client)
    explored = [r for r in found if r.explored]
    assert explored
    assert all((r.repeats, r.used, r.reasons) == (1, "structure", []) for r in explored)
    assert all(r.repeats == 0 for r in found if not r.explored)
    assert len(set(tried(client))) == 14


def test_it_happens_again_from_what_was_stored(tmp_path):
    from bokern.ax import load

    client = make_client(generation_strategy(TWO, initial=4, seed=1))
    while not (runs(client) and record(client).explored):
        advance(client, 1, corner)
    client.save_to_json_file(str(tmp_path / "run.json"))
    again = load(tmp_path / "run.json")
    for each in (client, again):
        advance(each, 2, corner)
    assert tried(again)[-1] == pytest.approx(tried(client)[-1], abs=1e-6)


def test_a_sobol_point_is_the_last_resort(monkeypatch):
    client = make_client(generation_strategy(TWO, initial=4, seed=1))
    advance(client, 5, corner)
    monkeypatch.setattr("bokern.ax.node.repeats", lambda *_: True)
    advance(client, 1, corner)
    found = record(client)
    assert (found.used, found.repeats, found.explored) == ("sobol", 2, False)
    assert found.reasons == ["the candidate is a point that was tried already"]


def test_trials_asked_for_together_are_not_left_exploring(monkeypatch):
    client = make_client(generation_strategy("Matern(2.5)", initial=4, seed=1))
    advance(client, 4, corner)
    asked = iter([True])
    monkeypatch.setattr("bokern.ax.node.repeats", lambda *_: next(asked, False))
    client.get_next_trials(max_trials=3)
    assert [r.explored for r in runs(client)[-3:]] == [True, False, False]


@pytest.mark.parametrize(
    ("objective", "constraints", "repeated"),
    [("-y, -cost", [], 1), ("-y", ["cost <= 1.2"], 2)],
)
def test_with_several_objectives_it_is_a_sobol_point_at_once(
    monkeypatch, objective, constraints, repeated
):
    client = make_client(
        generation_strategy(TWO, initial=3),
        objective=objective,
        constraints=constraints,
    )
    values = lambda p: {**corner(p), "cost": p["a"]}  # noqa: E731
    advance(client, 3, values)
    monkeypatch.setattr("bokern.ax.node.repeats", lambda *_: True)
    advance(client, 1, values)
    assert (record(client).used, record(client).repeats) == ("sobol", repeated)


def test_exploring_leaves_out_what_belongs_to_an_acquisition():
    given = {
        "botorch_acqf_class": GPUCB,
        "botorch_acqf_options": {"size": 9},
        "refit_on_cv": True,
    }
    assert exploring(given) == {"botorch_acqf_class": Uncertainty, "refit_on_cv": True}
    assert exploring({"botorch_acqf_class": LogEI}) == exploring({})
