"""The node inside Ax: acquisitions, pending trials, constraints, choices."""

from __future__ import annotations

import pytest
from ax.adapter.cross_validation import cross_validate

from bokern.ax import generation_strategy
from bokern.errors import FitWarning, SpaceError
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
        seen.append(record(client).searched_at)
    assert seen == [5, 6, 6, 8]


def test_a_fixed_structure_is_never_compared():
    client = make_client(generation_strategy("RBF()", initial=3))
    advance(client, 5)
    assert record(client).searched_at == 0
    config = node(client).generator_spec.fitted_adapter.generator.surrogate
    assert config.model_name_by_metric == {"y": "bokern:RBF()"}


def test_two_metrics_and_a_constraint():
    client = make_client(
        generation_strategy(TWO, initial=3), constraints=["cost <= 1.2"]
    )
    advance(client, 5, lambda p: {"y": branin_like(p), "cost": p["a"] + p["b"]})
    assert set(record(client).incumbents) == {"y", "cost"}
    assert all(len(w) == 1 for w in record(client).incumbents.values())
    assert (record(client).used, record(client).reasons) == ("structure", [])


def test_gp_ucb_refuses_constraints():
    client = make_client(
        generation_strategy(TWO, "gp-ucb", initial=2), constraints=["cost <= 1.2"]
    )
    advance(client, 2, lambda p: {"y": branin_like(p), "cost": p["a"]})
    with pytest.raises(SpaceError, match="one objective without outcome constraints"):
        client.get_next_trials(max_trials=1)


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
    advance(client, 5, lambda p: {"y": 1.0})
    assert len(client._experiment.trials) == 5


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
