"""Failures and outcome constraints in every acquisition, through Ax and studies."""

from __future__ import annotations

import json

import pytest
import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.storage.json_store.decoder import object_from_json
from ax.storage.json_store.encoder import object_to_json

from bokern import Study, choice
from bokern.ax import generation_strategy
from bokern.ax.acquisition import ACQUISITIONS
from bokern.ax.feasible import SUCCESS
from bokern.errors import FitWarning
from bokern.models import SuccessGP

pytestmark = pytest.mark.integration
EACH_KIND = ("logei", "gp-ucb", "kg", "thompson")
"""A logarithm, a bound, one that looks at the rest of the box, a drawn function."""

CHEAP = ("logei", "gp-ucb")
"""Those that are quick to optimise."""

SPACE = {"x": (0.0, 1.0), "y": (1.0, 100.0, "log")}


def study_of(acquisition="logei", **options):
    return Study(
        None,
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        acquisition=acquisition,
        structures="Matern(2.5)",
        initial=6,
        **options,
    )


def run(study, count, fails):
    """Fails or tells a bowl whose minimum lies at (.2, .6); the last trials asked."""
    for _ in range(count):
        trial = study.ask()
        x, y = trial.parameters["x"], trial.parameters["y"]
        if fails(x, y):
            study.fail(trial, "out of reach")
        else:
            study.tell(trial, (x - 0.2) ** 2 + (y - 0.6) ** 2)
    return study.trials


@pytest.mark.parametrize(
    "acquisition",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "kg" else [])
        for name in EACH_KIND
    ],
)
def test_acquisitions_of_each_kind_learn_where_evaluations_fail(acquisition):
    trials = run(study_of(acquisition), 22, lambda x, y: x > 0.5)
    modelled = trials[trials["generator"] == "Matern(2.5)"]
    assert len(modelled) == len(trials) - modelled["trial"].min() >= 8
    assert (modelled["status"] == "failed").mean() <= 0.34


def test_the_best_point_is_found_beside_failures():
    study = study_of()
    trials = run(study, 24, lambda x, y: x + y > 1.0)
    assert study.best.values["value"] < 0.01
    assert (trials["status"][14:] == "failed").mean() < 0.5


def test_failures_everywhere_and_failures_by_chance_end_nothing():
    study = study_of(seed=1)
    generator = torch.Generator().manual_seed(0)
    chance = lambda x, y: torch.rand((), generator=generator).item() < 0.3  # noqa: E731
    run(study, 18, chance)
    assert study.best.values["value"] < 0.02
    everything = study_of()
    run(everything, 8, lambda x, y: True)
    assert set(everything.trials["generator"]) == {"sobol"}


def test_suggestions_depend_on_the_log_alone(tmp_path):
    path = tmp_path / "a.study"
    options = {"structures": "Matern(2.5)", "initial": 5}
    one = Study(path, SPACE, **options)
    run(one, 9, lambda x, y: x > 0.6)
    other = Study(path)
    asked = other.ask().parameters
    fresh = Study(tmp_path / "b.study", SPACE, **options)
    run(fresh, 9, lambda x, y: x > 0.6)
    assert fresh.ask().parameters == asked


@pytest.mark.parametrize(
    "acquisition",
    [
        pytest.param(name, marks=[] if name in CHEAP else pytest.mark.slow)
        for name in ACQUISITIONS
    ],
)
def test_every_acquisition_keeps_outcome_constraints(acquisition):
    study = study_of(acquisition, outcome_constraints=["cost <= 0.5"])
    for _ in range(14):
        trial = study.ask()
        x, y = trial.parameters["x"], trial.parameters["y"]
        value = (x - 0.9) ** 2 + (y - 0.6) ** 2
        study.tell(trial, {"value": value, "cost": x})
    later = study.trials[8:]
    assert "sobol" not in set(later["generator"])
    assert (later["cost"] <= 0.55).mean() >= 0.5


def test_a_failure_that_cannot_be_learned_from_is_avoided_still(monkeypatch):
    def broken(*_):
        raise RuntimeError("no")

    study = study_of()
    run(study, 13, lambda x, y: x > 0.5)
    monkeypatch.setattr("bokern.ax.feasible.SuccessGP", broken)
    with pytest.warns(FitWarning, match="where evaluations fail could not be learned"):
        trial = study.ask()
    assert study[trial.id].generator == "Matern(2.5)"


def test_what_was_learned_is_kept_until_a_trial_ends(monkeypatch):
    fits = []

    def counted(*arguments):
        fits.append(arguments)
        return SuccessGP(*arguments)

    study = study_of()
    run(study, 13, lambda x, y: x > 0.5)
    monkeypatch.setattr("bokern.ax.feasible.SuccessGP", counted)
    one, *_ = study.ask(3)
    assert len(fits) == 1
    study.fail(one, "out of reach")
    study.ask()
    assert len(fits) == 2


def test_several_trials_are_pending_beside_failures_with_a_choice_and_two_outcomes():
    study = Study(
        None,
        {"x": (1e-3, 1.0, "log"), "kind": choice("a", "b", "c")},
        outcome_constraints=["cost <= 0.9"],
        structures="Matern(2.5)",
        initial=5,
    )
    for number in range(9):
        trial = study.ask()
        x = trial.parameters["x"]
        if number in (2, 6):
            study.fail(trial)
        else:
            study.tell(trial, {"value": (x - 0.2) ** 2, "cost": x})
    asked = study.ask(3)
    assert [t.generator for t in asked] == ["Matern(2.5)"] * 3
    points = {tuple(t.parameters.values()) for t in asked}
    assert len(points) == 3


def test_in_an_experiment_of_axs_with_a_log_scale_that_is_stored():
    client = Client(random_seed=0)
    client.configure_experiment(
        parameters=[
            RangeParameterConfig(name="x", parameter_type="float", bounds=(0.0, 1.0)),
            RangeParameterConfig(
                name="y", parameter_type="float", bounds=(1.0, 100.0), scaling="log"
            ),
        ]
    )
    client.configure_optimization(objective="-loss")
    client.set_generation_strategy(
        generation_strategy("Matern(2.5)", initial=6, seed=0)
    )
    for _ in range(14):
        for index, p in client.get_next_trials(max_trials=1).items():
            if p["y"] > 10.0:
                client.mark_trial_failed(index)
            else:
                client.complete_trial(index, {"loss": (p["x"] - 0.3) ** 2 + p["y"]})
    experiment = client._experiment
    failed = sum(t.status.is_failed for t in experiment.trials.values())
    assert 0 < failed < 10
    node = client._generation_strategy._curr
    generator = node.generator_specs[0].fitted_adapter.generator
    success = generator.acquisition_options[SUCCESS]
    high, low = success.log_probability(torch.tensor([[0.5, 0.9], [0.5, 0.1]])).exp()
    assert high < 0.3 < 0.7 < low
    stored = json.loads(json.dumps(object_to_json(experiment)))
    again = object_from_json(stored)
    assert len(again.trials) == 14
