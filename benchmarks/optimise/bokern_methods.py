"""bokern through its public API, in its default configuration and in variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import bokern
from benchmarks.alarms.run import has_symmetry, has_warp
from benchmarks.optimise.recorder import Recorder, TargetReached
from benchmarks.optimise.target import Parameters
from benchmarks.tasks import Record
from bokern.ax import record_of
from bokern.optimize import OptimizationResult
from bokern.selection import Comparison
from bokern.structures import Structure, as_structure
from bokern.views import Group

MOST_USED = 8
"""Structures that a record counts the trials of."""


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


def run_plain(objective: Recorder, initial: list[Parameters], seed: int) -> Record:
    """Matérn-5/2 alone: no structure is looked for."""
    return _minimize(objective, initial, seed, structures="Matern(2.5)")


def _minimize(
    objective: Recorder, initial: list[Parameters], seed: int, **options: Any
) -> Record:
    """Minimises, to the end of the budget or to the objective's goal."""
    try:
        result = bokern.minimize(
            objective,
            dict(objective.problem.space),
            objective.budget,
            initial=initial,
            seed=seed,
            progress=False,
            **options,
        )
    except TargetReached as stop:
        result = stop.result  # type: ignore[attr-defined]
    return _found(result, objective.problem.group)


def _found(result: OptimizationResult, group: str | None) -> Record:
    """What was believed of the structure at the end.

    ``explored`` and ``sobol`` count the trials for which a model had nothing to gain,
    ``tests`` those that tested a symmetry; ``right_group`` says whether the best
    structure has the group of the problem and no other.
    """
    trials = result.client._experiment.trials.values()
    records = [record_of(run) for t in trials for run in t.generator_runs]
    made = [r for r in records if r is not None]
    found = {
        "explored": sum(r.explored for r in made),
        "tests": sum(bool(r.tests) for r in made),
        "sobol": sum(r.used == "sobol" for r in made),
        "right_group": False,
    }
    comparison = result.comparison
    if comparison is None:
        return found
    used = Counter(result.trials["structure"].tolist())
    return {
        **found,
        "best": str(comparison.best),
        "right_group": group is not None and _has_exactly(comparison, group),
        "invariant": comparison.probability(has_symmetry),
        "warped": comparison.probability(has_warp),
        "compared_at": len(comparison.y),
        "used": dict(used.most_common(MOST_USED)),
    }


def _has_exactly(comparison: Comparison, group: str) -> bool:
    names = comparison.column_names
    wanted = as_structure(f"Invariant(Matern(2.5), {group})")
    return _groups(comparison.best, names) == _groups(wanted, names)


def _groups(structure: Structure, names: Sequence[str]) -> set[Group]:
    nodes = structure.resolve(names).nodes()
    return {node.group.canonical() for node in nodes if node.group is not None}
