"""Trials that test a symmetry that is believed in and untested."""

from __future__ import annotations

import pytest
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.core.arm import Arm

from bokern.ax import generation_strategy
from bokern.ax.record import record_of, symmetries_tested
from bokern.ax.symmetry_trial import symmetry_trial
from bokern.structures import parse
from tests.ax.conftest import advance, make_client

pytestmark = pytest.mark.integration

SWAP = parse("Invariant(Matern(2.5), swap('a', 'b'))")
CYCLE = parse("Invariant(Matern(2.5), cyclic(3, columns=['a', 'b', 'c']))")
ALL = parse("Invariant(Matern(2.5), permutations(3, columns=['a', 'b', 'c']))")
BOTH = ["Matern(2.5)", "Invariant(Matern(2.5), swap(0, 1))"]


def observed(values, names="abc", log=False):
    """A client that has seen these values at these points."""
    client = Client()
    client.configure_experiment(
        parameters=[
            RangeParameterConfig(
                name=name,
                parameter_type="float",
                bounds=(0.01, 1.0),
                scaling="log" if log else "linear",
            )
            for name in names
        ]
    )
    client.configure_optimization("-y")
    for point, y in values.items():
        see(client, point, y)
    return client


def see(client, point, y=None):
    names = client._experiment.search_space.parameters
    index = client.attach_trial(dict(zip(names, point, strict=True)))
    if y is not None:
        client.complete_trial(index, raw_data={"y": y})


def image_of(client, structure, candidate=(0.5, 0.5, 0.5)):
    at = Arm(dict(zip("abc", candidate, strict=True)))
    arm = symmetry_trial(client._experiment, "y", structure, at)
    return None if arm is None else tuple(arm.parameters.values())


LEVEL = {
    (0.9, 0.1, 0.5): 0.0,
    (0.1, 0.9, 0.5): 0.0,
    (0.5, 0.52, 0.5): 9.0,
    (0.2, 0.3, 0.5): 0.1,
}
"""A pair that is level, and the farthest value where a swap moves little."""


@pytest.mark.parametrize("log", [False, True])
def test_it_is_the_image_of_what_stands_out_and_is_moved(log):
    client = observed({**LEVEL, (0.7, 0.3, 0.2): -1.0}, log=log)
    assert image_of(client, SWAP) == (0.3, 0.7, 0.2)
    # What is under evaluation is as good as tested.
    see(client, (0.3, 0.7, 0.2))
    assert image_of(client, SWAP) is None


@pytest.mark.parametrize(
    ("structure", "candidate", "tested"),
    [
        (SWAP, (0.5, 0.5, 0.1), True),
        (SWAP, (0.5, 0.53, 0.1), True),
        (SWAP, (0.5, 0.6, 0.1), False),
        (CYCLE, (0.5, 0.5, 0.1), False),
        (CYCLE, (0.5, 0.5, 0.5), True),
        (ALL, (0.5, 0.1, 0.5), True),
        (ALL, (0.5, 0.1, 0.9), False),
    ],
)
def test_a_candidate_that_tells_by_itself_stays(structure, candidate, tested):
    client = observed({**LEVEL, (0.7, 0.3, 0.2): -1.0})
    assert (image_of(client, structure, candidate) is not None) is tested


def test_the_element_that_is_tested_is_one_that_the_candidate_is_blind_to():
    client = observed({**LEVEL, (0.7, 0.3, 0.1): -1.0})
    assert image_of(client, ALL, (0.5, 0.1, 0.5)) == (0.1, 0.3, 0.7)
    see(client, (0.1, 0.3, 0.7))
    assert image_of(client, ALL, (0.5, 0.1, 0.5)) is None
    assert image_of(client, ALL, (0.5, 0.5, 0.1)) == (0.3, 0.7, 0.1)


def test_what_stands_out_further_is_tested_again():
    client = observed({**LEVEL, (0.7, 0.3, 0.2): -1.0, (0.3, 0.7, 0.2): -0.8})
    assert image_of(client, SWAP) is None
    see(client, (0.8, 0.1, 0.9), -1.5)
    assert image_of(client, SWAP) is None, "less than twice as far"
    see(client, (0.6, 0.1, 0.9), -3.0)
    assert image_of(client, SWAP) == (0.1, 0.6, 0.9)


def test_an_element_is_tested_twice_at_most():
    client = observed({**LEVEL, (0.7, 0.3, 0.2): -1.0})
    for y, count in ((-1.0, 1), (-3.0, 2), (-9.0, 3)):
        point = image_of(client, SWAP)
        assert (point is not None) is (count <= 2)
        if point is not None:
            see(client, point, y)
            run = client._experiment.trials[max(client._experiment.trials)]
            run.generator_runs[0]._gen_metadata = {"bokern": {"tests": {"y": 5}}}
        see(client, (0.6 + 0.1 * count, 0.1, 0.9), 3.0 * y)


def test_elements_are_tested_until_they_generate_the_group():
    client = observed({**LEVEL, (0.7, 0.3, 0.1): -1.0})
    tests = []
    while (point := image_of(client, ALL)) is not None:
        tests.append(point)
        see(client, point, -1.0)
    assert len(tests) == 2
    assert all(sorted(point) == [0.1, 0.3, 0.7] for point in tests)
    client = observed({**LEVEL, (0.7, 0.3, 0.1): -1.0})
    see(client, image_of(client, CYCLE), -1.0)
    assert image_of(client, CYCLE) is None


@pytest.mark.parametrize(
    ("values", "structure"),
    [
        ({}, SWAP),
        ({(0.5, 0.5, 0.1): 1.0, (0.2, 0.2, 0.9): 0.0}, SWAP),
        ({(0.7, 0.3, 0.1): 1.0, (0.2, 0.6, 0.9): 1.0}, SWAP),
        (LEVEL, parse("Matern(2.5)")),
        (LEVEL, parse("Invariant(RBF(), reflections('a'))")),
    ],
    ids=["no data", "nothing moves", "all level", "no symmetry", "a reflection"],
)
def test_there_may_be_none(values, structure):
    assert image_of(observed(values), structure) is None


def bowl(p):
    """Its minimum lies where a swap moves nothing."""
    return {"y": (p["a"] - 0.5) ** 2 + (p["b"] - 0.5) ** 2}


def made(client):
    trials = client._experiment.trials.values()
    return [run for t in trials for run in t.generator_runs if record_of(run)]


def test_a_node_tests_and_compares_anew():
    client = make_client(generation_strategy(BOTH, initial=5, seed=0))
    advance(client, 16, bowl)
    runs = made(client)
    records = [record_of(run) for run in runs]
    tests = [i for i, run in enumerate(runs) if symmetries_tested(run)]
    assert tests
    for i in tests:
        (chosen,) = records[i].chosen["y"]
        assert "swap" in chosen
        assert records[i].tests == {"y": records[i].searched_at["y"]}
        assert records[i].used == "structure"
        a, b = runs[i].arms[0].parameters.values()
        arms = [t.arm.parameters for t in client._experiment.trials.values()]
        assert {"a": b, "b": a} in arms
        if i + 1 < len(records):
            assert records[i + 1].searched_at["y"] == records[i].rows + 1


@pytest.mark.parametrize("structures", ["Invariant(RBF(), swap(0, 1))", [*BOTH[1:]]])
def test_a_symmetry_that_is_told_is_not_tested(structures):
    client = make_client(generation_strategy(structures, initial=4, seed=0))
    advance(client, 8, bowl)
    assert not any(symmetries_tested(run) for run in made(client))


def test_several_candidates_at_once_are_the_models(monkeypatch):
    client = make_client(
        generation_strategy(BOTH, initial=4, seed=0, selection="winner")
    )
    advance(client, 5, bowl)
    calls = []
    monkeypatch.setattr(
        "bokern.ax.node.symmetry_trial", lambda *_: calls.append(1) or None
    )
    client._generation_strategy.gen(experiment=client._experiment, n=2, num_trials=1)
    assert calls == []
    advance(client, 1, bowl)
    assert calls == [1]
