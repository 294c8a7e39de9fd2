"""Ax as it comes, except that it starts from the shared points, not the centre."""

from __future__ import annotations

import logging

from ax.api.client import Client
from ax.utils.common.logger import set_ax_logger_levels

from benchmarks.optimise.recorder import Recorder
from benchmarks.optimise.target import Parameters, parameters_of


def run_ax(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """Ax's default ``Client``."""
    set_ax_logger_levels(logging.WARNING)
    client = Client(random_seed=seed)
    parameters = parameters_of(objective.problem)
    client.configure_experiment(parameters=[p.to_ax() for p in parameters])
    client.configure_optimization(objective="-value")
    client.configure_generation_strategy(
        initialization_budget=len(initial), initialize_with_center=False
    )
    for point in initial:
        index = client.attach_trial(parameters=dict(point))
        client.complete_trial(index, raw_data={"value": objective(point)})
    while len(objective.values) < objective.budget:
        for index, suggested in client.get_next_trials(max_trials=1).items():
            value = objective(dict(suggested))
            client.complete_trial(index, raw_data={"value": value})
