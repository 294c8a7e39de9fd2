"""bokern through its public API, in its default configuration and in variants."""

from __future__ import annotations

from typing import Any

import bokern
from benchmarks.optimise.objectives import Parameters
from benchmarks.optimise.recorder import Recorder


def run_bokern(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """The default: structures, their combination and the acquisition as shipped."""
    _minimize(objective, initial, seed)


def run_winner(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """Always the structure of highest evidence."""
    _minimize(objective, initial, seed, selection="winner")


def run_mixture(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """The evidence-weighted mixture of the structures."""
    _minimize(objective, initial, seed, selection="mixture")


def run_draw(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """A structure drawn from the posterior for each trial."""
    _minimize(objective, initial, seed, selection="draw")


def run_ucb(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """GP-UCB in place of expected improvement."""
    _minimize(objective, initial, seed, acquisition="gp-ucb")


def run_known(objective: Recorder, initial: list[Parameters], seed: int) -> None:
    """The problem's group is known, its hyperparameters are learned.

    The evidence chooses whether the prior variance is the same everywhere or largest
    on the points that the group fixes.
    """
    group = objective.problem.group
    structures = [
        f"Invariant(Matern(2.5), {group})",
        f"Invariant(Matern(2.5), {group}, normalize=False)",
    ]
    _minimize(objective, initial, seed, structures=structures)


def _minimize(
    objective: Recorder, initial: list[Parameters], seed: int, **options: Any
) -> None:
    bokern.minimize(
        objective,
        objective.problem.space,
        objective.budget,
        initial=initial,
        seed=seed,
        progress=False,
        **options,
    )
