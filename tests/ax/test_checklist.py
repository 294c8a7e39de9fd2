"""Every kind of Ax experiment: eight trials, stored, opened elsewhere, gone on with."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from ax.adapter.registry import Generators
from ax.api.configs import StorageConfig
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generation_strategy.transition_criterion import MinTrials
from ax.generators.torch.botorch_modular.surrogate import SurrogateSpec
from ax.storage.sqa_store.db import (
    create_all_tables,
    get_engine,
    init_engine_and_session_factory,
)

from bokern.ax import generation_strategy
from bokern.ax.surrogate import model_config, sobol_generator
from tests.ax.conftest import advance, branin_like, make_client

pytestmark = pytest.mark.integration

TWO = ["Matern(2.5)", "RBF()"]

EXPERIMENTS = {
    "one metric": {},
    "a constraint": {"constraints": ["cost <= 1.2"]},
    "two objectives": {"objective": "-y, -cost"},
    "a choice": {"choice": True},
    "constant targets": {},
}

GO_ON = """
import json, sys
import bokern.ax
suggested = []
for arguments in json.loads(sys.argv[1]):
    client = bokern.ax.load(*arguments)
    (found,) = client.get_next_trials(max_trials=1).items()
    suggested.append([len(client._experiment.trials), client._experiment.trials[
        found[0]].generator_runs[0]._generator_key, found[1]])
print(json.dumps(suggested))
"""


def values_of(kind):
    def values(p):
        found = {"y": branin_like(p) + {"u": 0.0, "v": 1.0}.get(p.get("kind"), 0.5)}
        if kind == "constant targets":
            found["y"] = 3.0
        if kind in ("a constraint", "two objectives"):
            found["cost"] = p["a"] + p["b"]
        return found

    return values


def client_of(kind, storage=None, strategy=None, name="run"):
    strategy = strategy or generation_strategy(TWO, initial=5, seed=1)
    client = make_client(strategy, storage=storage, name=name, **EXPERIMENTS[kind])
    advance(client, 8, values_of(kind))
    return client


def mixed_strategy(*configs):
    """Ax's mixed generator, a choice in one integer column, with our models in it."""
    spec = SurrogateSpec(model_configs=list(configs), allow_batched_models=False)
    node = GenerationNode(
        name="mixed",
        generator_specs=[
            GeneratorSpec(
                Generators.BO_MIXED, generator_kwargs={"surrogate_spec": spec}
            )
        ],
    )
    first = GenerationNode(
        name="Sobol",
        generator_specs=[sobol_generator(0)],
        transition_criteria=[MinTrials(threshold=5, transition_to="mixed")],
    )
    return GenerationStrategy(name="mixed", nodes=[first, node])


@pytest.mark.filterwarnings("ignore:.sort_values:ax.exceptions.core.AxParameterWarning")
@pytest.mark.filterwarnings("ignore::bokern.errors.FitWarning")
@pytest.mark.parametrize(
    ("in_json", "in_sql"),
    [
        (("two objectives",), ("a choice",)),
        pytest.param(
            tuple(EXPERIMENTS),
            ("one metric", "two objectives", "a choice"),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["two", "all"],
)
def test_each_goes_on_elsewhere_from_json_and_from_sql(tmp_path, in_json, in_sql):
    stored, here = [], []
    for number, kind in enumerate(in_json):
        path = tmp_path / f"{number}.json"
        client = client_of(kind)
        client.save_to_json_file(str(path))
        stored.append([str(path)])
        here.append(next_of(client))
    path = tmp_path / "all.db"
    url = f"sqlite:///{path}"
    init_engine_and_session_factory(url=url)
    create_all_tables(get_engine())
    for kind in in_sql:
        client_of(kind, StorageConfig(url=url), name=kind)
        stored.append([str(path), kind])
        known = kind in in_json
        here.append(here[in_json.index(kind)] if known else next_of(client_of(kind)))
    done = subprocess.run(
        [sys.executable, "-c", GO_ON, json.dumps(stored)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout.splitlines()[-1])
    for (count, generator, parameters), expected in zip(there, here, strict=True):
        assert (count, generator) == (9, "BoTorch")
        assert parameters.get("kind") == expected.get("kind")
        for name in ("a", "b"):
            assert parameters[name] == pytest.approx(expected[name], abs=1e-4)


def next_of(client):
    """The parameters of the next trial."""
    ((_, parameters),) = client.get_next_trials(max_trials=1).items()
    return parameters


@pytest.mark.parametrize("kind", ["a constraint", "two objectives", "a choice"])
def test_two_trials_can_be_pending(kind):
    client = client_of(kind)
    one, other = client.get_next_trials(max_trials=2).values()
    assert max(abs(one[name] - other[name]) for name in "ab") > 1e-3 or (
        one.get("kind") != other.get("kind")
    )
    assert not client._generation_strategy._curr._reasons


def test_axs_mixed_generator_takes_a_structure():
    config = model_config({"Matern(2.5)": 1.0}, seed=0)
    client = client_of("a choice", strategy=mixed_strategy(config))
    adapter = client._generation_strategy._curr.generator_specs[0].fitted_adapter
    model = adapter.generator.surrogate.model
    assert len(model.column_names) == 3
    assert str(model.structure) == "Matern(2.5)"


def test_axs_selection_chooses_between_two_structures():
    configs = [model_config({text: 1.0}, seed=0) for text in TWO]
    client = client_of("a choice", strategy=mixed_strategy(*configs))
    adapter = client._generation_strategy._curr.generator_specs[0].fitted_adapter
    chosen = adapter.generator.surrogate.model_name_by_metric["y"]
    assert chosen in {f"bokern:{text}" for text in TWO}
