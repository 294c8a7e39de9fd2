"""The node inside Ax: acquisitions, pending trials, constraints, choices."""

from __future__ import annotations

import numpy as np
import pytest
from ax.adapter.cross_validation import cross_validate
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.exceptions.core import SearchSpaceExhausted

from bokern.acquisition import GPUCB, FiniteSchedule
from bokern.ax import generation_strategy
from bokern.ax.acquisition import merged
from bokern.errors import FitWarning, GroupError, SpaceError
from tests.ax.conftest import advance, branin_like, make_client, node, record

pytestmark = pytest.mark.integration
TWO = ["Matern(2.5)", "RBF()"]


@pytest.mark.parametrize("acquisition", ["logei", "qlognei", "gp-ucb"])
@pytest.mark.parametrize("selection", ["winner", "mixture"])
def test_two_pending_trials(acquisition, selection):
    client = make_client(
        generation_strategy(TWO, acquisition, selection, initial=3, seed=1)
    )
    advance(client, 4)
    first, second = client.get_next_trials(max_trials=2).values()
    assert max(abs(first[k] - second[k]) for k in first) > 1e-3
    assert record(client).used == "structure"
    assert record(client).reasons == []


def test_the_same_seed_gives_the_same_run():
    runs = []
    for _ in range(2):
        client = make_client(generation_strategy(TWO, initial=3, seed=4))
        advance(client, 5)
        trials = client._experiment.trials.values()
        runs.append([trial.arm.parameters for trial in trials])
    assert runs[0] == runs[1]


def test_structures_are_compared_when_the_data_have_grown_by_a_fifth():
    client = make_client(generation_strategy(TWO, initial=5))
    advance(client, 5)
    seen = []
    for _ in range(4):
        advance(client, 1)
        seen.append(record(client).searched_at["y"])
    assert seen == [5, 6, 6, 8]


def test_a_fixed_structure_is_never_compared():
    client = make_client(generation_strategy("RBF()", initial=3))
    advance(client, 5)
    assert record(client).searched_at == {}
    config = node(client).generator_spec.fitted_adapter.generator.surrogate
    assert config.model_name_by_metric == {"y": "bokern:RBF()"}


def test_two_metrics_and_a_constraint():
    client = make_client(
        generation_strategy(TWO, initial=3), constraints=["cost <= 1.2"]
    )
    advance(client, 5, lambda p: {"y": branin_like(p), "cost": p["a"] + p["b"]})
    assert set(record(client).incumbents) == {"y", "cost"}
    assert all(len(w) == 1 for w in record(client).chosen.values())
    assert (record(client).used, record(client).reasons) == ("structure", [])


def test_gp_ucb_refuses_several_objectives():
    client = make_client(
        generation_strategy(TWO, "gp-ucb", initial=2), objective="-y, -cost"
    )
    advance(client, 2, lambda p: {"y": branin_like(p), "cost": p["a"]})
    with pytest.raises(SpaceError, match="gp-ucb handles one objective"):
        client.get_next_trials(max_trials=1)


def test_gp_ucb_options_reach_the_schedule_beside_the_size(monkeypatch):
    client = Client()
    client.configure_experiment(
        name="run",
        parameters=[
            RangeParameterConfig(name="n", parameter_type="int", bounds=(0, 40))
        ],
    )
    client.configure_optimization("-y")
    options = {"delta": 0.05, "scale": np.float64(0.7)}
    client.set_generation_strategy(
        generation_strategy("RBF()", "gp-ucb", initial=3, acquisition_options=options)
    )
    schedules = []
    original = GPUCB.__init__

    def spy(self, model, schedule, *args, **kwargs):
        schedules.append(schedule)
        original(self, model, schedule, *args, **kwargs)

    monkeypatch.setattr(GPUCB, "__init__", spy)
    advance(client, 4, lambda p: {"y": (p["n"] - 17) ** 2})
    assert set(schedules) == {FiniteSchedule(41, delta=0.05, scale=0.7)}


@pytest.mark.parametrize(
    ("acquisition", "options", "words"),
    [
        ("gp-ucb", {"beta": 2.0}, "no option 'beta': it takes delta and scale"),
        ("logei", {"delta": 0.1}, "it takes none"),
        ("gp-ucb", {"delta": 1.5}, "strictly between 0 and 1"),
        ("gp-ucb", {"scale": -1.0}, "must be a positive number"),
        ("gp-ucb", {"scale": True}, "expects a number as 'scale'"),
        ("gp-ucb", {"delta": "x"}, "expects a number as 'delta'"),
        ("gp-ucb", [0.1], "expects a dictionary"),
    ],
)
def test_bad_acquisition_options(acquisition, options, words):
    with pytest.raises(SpaceError, match=words):
        generation_strategy("RBF()", acquisition, acquisition_options=options)


def test_options_of_the_generator_are_merged_with_those_of_the_node():
    ours = {"botorch_acqf_class": GPUCB, "botorch_acqf_options": {"size": 9}}
    theirs = {"botorch_acqf_options": {"scale": 1.0}, "refit_on_cv": True}
    both = merged(ours, theirs)
    assert both["botorch_acqf_options"] == {"size": 9, "scale": 1.0}
    assert (both["botorch_acqf_class"], both["refit_on_cv"]) == (GPUCB, True)
    assert merged({}, theirs) == theirs


def test_a_number_of_initial_trials_of_numpy():
    strategy = generation_strategy(TWO, initial=np.int64(4))
    assert [type(c.threshold) for c in strategy._nodes[0].transition_criteria] == [
        int,
        int,
    ]
    for bad in (True, np.bool_(True), -1, 2.0):
        with pytest.raises(SpaceError, match="a number of Sobol trials"):
            generation_strategy(TWO, initial=bad)


def test_the_node_says_when_a_finite_space_is_used_up():
    client = Client()
    client.configure_experiment(
        name="run",
        parameters=[
            RangeParameterConfig(name="n", parameter_type="int", bounds=(0, 3))
        ],
    )
    client.configure_optimization("-y")
    client.set_generation_strategy(generation_strategy("RBF()", initial=3))
    advance(client, 3, lambda p: {"y": p["n"]})
    for index in client.get_next_trials(max_trials=1):
        client.mark_trial_failed(index)
    with pytest.raises(SearchSpaceExhausted, match="no candidate is left"):
        client.get_next_trials(max_trials=1)


def test_the_comparison_carries_the_name_of_the_metric():
    client = make_client(generation_strategy(TWO, initial=3))
    advance(client, 4)
    assert node(client).comparisons["y"].target_name == "y"
    client = make_client(generation_strategy(TWO, initial=3), objective="-loss")
    advance(client, 4, lambda p: {"loss": branin_like(p)})
    assert node(client).comparisons["loss"].target_name == "loss"


def test_a_group_that_is_too_large_is_met_at_the_first_fit():
    parameters = [
        RangeParameterConfig(name=f"x{i}", parameter_type="float", bounds=(0.0, 1.0))
        for i in range(6)
    ]
    client = Client()
    client.configure_experiment(name="run", parameters=parameters)
    client.configure_optimization("-y")
    client.set_generation_strategy(
        generation_strategy(["RBF()", "Invariant(RBF(), permutations(6), tied=False)"])
    )
    with pytest.raises(GroupError, match="double sum over 720"):
        advance(client, 6, lambda p: {"y": sum(p.values())})
    assert len(client._experiment.trials) == 5


def test_numbered_columns_survive_one_hot_encoding():
    structure = "RBF(columns=[1, 2])"
    client = make_client(generation_strategy(structure, initial=3), choice=True)
    advance(client, 5)
    surrogate = node(client).generator_spec.fitted_adapter.generator.surrogate
    names = surrogate.training_data[0].feature_names
    assert len(names) == 5
    assert surrogate.model_name_by_metric == {"y": "bokern:RBF(columns=['a', 'b'])"}
    resolved = surrogate.model.structure.resolve(names)
    assert [names[c] for c in resolved.columns] == ["a", "b"]


def test_names_survive_a_comparison_under_one_hot_encoding():
    structures = ["RBF(columns=[1, 2])", "Matern(2.5)"]
    client = make_client(
        generation_strategy(structures, selection="winner", initial=4), choice=True
    )
    advance(client, 6)
    known = record(client)
    assert set(known.evidence["y"]) == {"RBF(columns=['a', 'b'])", "Matern(2.5)"}
    assert set(known.incumbents["y"]) < set(known.evidence["y"])
    assert (known.used, known.reasons) == ("structure", [])


def test_constant_targets():
    client = make_client(generation_strategy(TWO, initial=3))
    with pytest.warns(FitWarning, match="is constant"):
        advance(client, 5, lambda p: {"y": 1.0})
    known = record(client)
    assert (known.used, known.incumbents) == ("structure", {})
    assert known.searched_at == {"y": 4}
    (reason,) = known.reasons
    assert reason.startswith("no comparison for y: DataError: 'y' is constant")


def test_failed_trials_are_not_proposed_again():
    client = make_client(generation_strategy("Matern(2.5)", initial=3))
    advance(client, 3)
    tried = []
    for _ in range(4):
        for index, parameters in client.get_next_trials(max_trials=1).items():
            client.mark_trial_failed(index)
            tried.append(tuple(parameters.values()))
    apart = [
        max(abs(a - b) for a, b in zip(p, q, strict=True))
        for i, p in enumerate(tried)
        for q in tried[:i]
    ]
    assert min(apart) > 1e-3


@pytest.mark.parametrize("selection", ["winner", "mixture"])
def test_cross_validation_of_the_adapter(selection):
    client = make_client(generation_strategy(TWO, selection=selection, initial=5))
    advance(client, 6)
    results = cross_validate(node(client).generator_spec.fitted_adapter, folds=3)
    assert len(results) == 5


def test_without_data_the_node_starts_with_sobol_points():
    client = make_client(generation_strategy(TWO, initial=0))
    with pytest.warns(FitWarning, match="Sobol points instead"):
        client.get_next_trials(max_trials=1)
    assert record(client).used == "sobol"
