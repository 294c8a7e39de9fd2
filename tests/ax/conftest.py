"""Small Ax experiments."""

from __future__ import annotations

import pytest
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

import bokern.ax

pytestmark = pytest.mark.integration

THREE = ["Matern(2.5)", "Kumaraswamy(Matern(2.5))", "DeepSE()"]
"""Stationary, warped, heavy-tailed."""


@pytest.fixture(autouse=True)
def no_database_is_open(monkeypatch):
    """Ax keeps the first one that a process opens."""
    monkeypatch.setattr("ax.storage.sqa_store.db.SESSION_FACTORY", None)


def branin_like(p):
    return (p["a"] - 0.3) ** 2 + 2.0 * (p["b"] - 0.6) ** 2


def make_client(
    strategy, *, objective="-y", constraints=(), choice=False, storage=None, name="run"
):
    client = Client(storage_config=storage)
    parameters = [
        RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0))
        for name in ("a", "b")
    ]
    if choice:
        kind = ChoiceParameterConfig(
            name="kind",
            values=["u", "v", "w"],
            parameter_type="str",
            is_ordered=False,
        )
        parameters.insert(0, kind)
    client.configure_experiment(name=name, parameters=parameters)
    client.configure_optimization(objective, list(constraints) or None)
    client.set_generation_strategy(strategy)
    return client


def advance(client, trials, values=lambda p: {"y": branin_like(p)}):
    for _ in range(trials):
        for index, parameters in client.get_next_trials(max_trials=1).items():
            client.complete_trial(index, raw_data=values(parameters))


def record(client):
    return bokern.ax.newest_record(client._experiment)


def node(client):
    return client._generation_strategy._curr
