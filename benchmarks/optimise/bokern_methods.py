"""bokern through its public API, in its default configuration and in variants."""

from __future__ import annotations

from typing import Any

import bokern
from benchmarks.optimise.objectives import Parameters
from benchmarks.optimise.recorder import Recorder
from benchmarks.tasks import Record
from bokern.ax import record_of


def run_bokern(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """The default: structures, their combination and the acquisition as shipped."""
    return _minimize(objective, initial, seed)


def run_winner(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """Always the structure of highest evidence."""
    return _minimize(objective, initial, seed, selection="winner")


def run_mixture(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """The evidence-weighted mixture of the structures."""
    return _minimize(objective, initial, seed, selection="mixture")


def run_draw(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """A structure drawn from the posterior for each trial."""
    return _minimize(objective, initial, seed, selection="draw")


def run_ucb(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """GP-UCB in place of expected improvement."""
    return _minimize(objective, initial, seed, acquisition="gp-ucb")


def run_known(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """The problem's group is known, its hyperparameters are learned.

    The evidence chooses whether the prior variance is the same everywhere or largest
    on the points that the group fixes.
    """
    group = objective.problem.group
    structures = [
        f"Invariant(Matern(2.5), {group})",
        f"Invariant(Matern(2.5), {group}, normalize=False)",
    ]
    return _minimize(objective, initial, seed, structures=structures)


def _minimize(
    objective: Recorder, initial: list[Parameters], seed: int, **options: Any
) -> Record:
    """Minimises, and says what was believed of the structure at the end.

    ``explored`` and ``sobol`` count the trials for which a model had nothing to gain.
    """
    result = bokern.minimize(
        objective,
        objective.problem.space,
        objective.budget,
        initial=initial,
        seed=seed,
        progress=False,
        **options,
    )
    trials = result.client._experiment.trials.values()
    records = [record_of(run) for t in trials for run in t.generator_runs]
    made = [r for r in records if r is not None]
    found = {
        "explored": sum(r.explored for r in made),
        "sobol": sum(r.used == "sobol" for r in made),
    }
    comparison = result.comparison
    if comparison is None:
        return found
    return {
        **found,
        "best": str(comparison.best),
        "invariant": comparison.probability("invariant"),
        "warped": comparison.probability("warped"),
        "compared_at": len(comparison.y),
        "used": result.trials["structure"].tolist(),
    }
