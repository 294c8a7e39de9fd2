"""An optimisation as the page shows it, before it is turned into HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bokern.errors import BokernError
from bokern.reporting import provenance
from bokern.reporting.bars import evidence_bars
from bokern.reporting.calibration import leave_one_out_calibration
from bokern.reporting.comparison_section import (
    ComparisonSection,
    bent,
    comparison_section,
)
from bokern.reporting.contours import posterior_contours
from bokern.reporting.digits import general
from bokern.reporting.drawing import Drawing, drawn
from bokern.reporting.front import pareto_front
from bokern.reporting.history import optimization_history
from bokern.reporting.importances import parameter_importances
from bokern.reporting.limits import outcome_limits
from bokern.reporting.parallel import parallel_coordinates
from bokern.reporting.progress import course
from bokern.reporting.regret_curve import regret
from bokern.reporting.results import OptimizationLike
from bokern.reporting.slices import posterior_slices
from bokern.reporting.structure_history import structure_probabilities
from bokern.reporting.surrogate import modelled

__all__ = ["Group", "OptimizationSection", "Table", "optimization_section"]


MOST_TRIALS = 500
"""Rows of the table of trials."""


@dataclass(frozen=True)
class Group:
    """Figures that belong together, with a sentence on how to read them."""

    heading: str
    sentence: str
    drawings: list[Drawing]


@dataclass(frozen=True)
class Table:
    """Cells as text under the names of columns, and how many rows are left out."""

    columns: list[str]
    rows: list[list[str]]
    left_out: int = 0


@dataclass(frozen=True)
class OptimizationSection:
    """An optimisation as the page shows it, with its last comparison."""

    heading: str
    statement: str
    best: list[tuple[str, str]]
    front: Table | None
    trials: Table
    groups: list[Group]
    facts: list[tuple[str, str]]
    comparison: ComparisonSection | None

    @property
    def all_drawings(self) -> list[Drawing]:
        """In the order in which they appear."""
        own = [drawing for group in self.groups for drawing in group.drawings]
        return own + ([] if self.comparison is None else self.comparison.all_drawings)


def optimization_section(result: OptimizationLike, heading: str) -> OptimizationSection:
    """Tables and figures of an optimisation.

    Args:
        result: The optimisation.
        heading: What to call it.

    Returns:
        The section; a figure that cannot be drawn leaves its reason.
    """
    found = result.comparison
    comparison = None
    if found is not None:
        best = int((course(result).sign * found.y).argmin())
        comparison = comparison_section(
            found,
            "Structures at the last comparison",
            found.X[best].tolist(),
            is_part=True,
        )
    return OptimizationSection(
        heading=heading,
        statement=_outcome(result),
        best=[(str(name), general(at, 6)) for name, at in _items(result)],
        front=_front(result),
        trials=_trials(result),
        groups=[
            _how_it_went(result),
            *[_model(result, name) for name in result.objectives],
            *_believed(result),
        ],
        facts=provenance.of_optimization(result),
        comparison=comparison,
    )


def _how_it_went(result: OptimizationLike) -> Group:
    """What was evaluated."""
    several = len(result.objectives) > 1
    drawings = [
        drawn(
            f"History of {name}" if several else "Optimisation history",
            lambda name=name: optimization_history(result, objective=name),  # type: ignore[misc]
        )
        for name in result.objectives
    ]
    if several:
        drawings.append(drawn("Pareto front", lambda: pareto_front(result)))
    else:
        drawings.append(drawn("Regret", lambda: regret(result)))
    if result.outcome_constraints:
        drawings.append(
            drawn("Constraints on outcomes", lambda: outcome_limits(result))
        )
    if _searched(result) > 1:
        drawings.append(
            drawn("Parallel coordinates", lambda: parallel_coordinates(result))
        )
    return Group(
        "How it went",
        "What was evaluated, trial by trial and all at once, with nothing assumed "
        "about the function.",
        drawings,
    )


def _model(result: OptimizationLike, name: str) -> Group:
    """What a model of all trials says of an objective."""
    heading = "What the model says"
    if len(result.objectives) > 1:
        heading += f" of {name}"
    try:
        data = modelled(result, name)
    except BokernError as error:
        return Group(heading, f"No model could be fitted to the trials: {error}", [])
    drawings = [
        drawn("Posterior", lambda: posterior_slices(data)),
        *bent(data),
        drawn("Leave-one-out calibration", lambda: leave_one_out_calibration(data)),
    ]
    if _searched(result) > 1:
        drawings[:0] = [
            drawn("Importance of parameters", lambda: parameter_importances(data)),
            drawn("Contours", lambda: posterior_contours(data)),
        ]
    return Group(
        heading,
        "These show a model of all completed trials, in the units of the space and of "
        "the objective, and not the function itself: look at the calibration, the last "
        "of them, to see how far it can be trusted.",
        drawings,
    )


def _believed(result: OptimizationLike) -> list[Group]:
    """The structures by trial, if any were compared."""
    drawings = []
    if result.comparison is None and not result.leaderboard.empty:
        drawings.append(drawn("Log evidence", lambda: evidence_bars(result)))
    if not result.structure_history.empty:
        title = "Structures by trial"
        drawings.append(drawn(title, lambda: structure_probabilities(result)))
    if not drawings:
        return []
    return [
        Group(
            "Which structures it believed in",
            "Points were proposed under the structures that the values so far "
            "supported; the more probable one was, the more of them came from it.",
            drawings,
        )
    ]


def _searched(result: OptimizationLike) -> int:
    return sum(not p.is_fixed for p in result.parameters)


def _front(result: OptimizationLike) -> Table | None:
    """The trials that no other beats, if there are several objectives."""
    if len(result.objectives) < 2 or not result.pareto:
        return None
    outcomes = list(
        dict.fromkeys([*result.objectives, *sorted(result.pareto[0].values)])
    )
    names = list(result.pareto[0].parameters)
    rows = [
        [
            str(trial.id),
            *(general(trial.values[name], 6) for name in outcomes),
            *(general(trial.parameters[name], 6) for name in names),
        ]
        for trial in result.pareto
    ]
    return Table(["trial", *outcomes, *names], rows)


def _trials(result: OptimizationLike) -> Table:
    """The last trials, so that a page stays small."""
    trials = result.trials[-MOST_TRIALS:]
    return Table(
        [str(column) for column in trials.columns],
        [[general(cell) for cell in row] for row in trials.to_numpy(object)],
        len(result.trials) - len(trials),
    )


def _items(result: OptimizationLike) -> list[tuple[str, Any]]:
    return list((result.best_parameters or {}).items())


def _outcome(result: OptimizationLike) -> str:
    """The result of an optimisation in a sentence."""
    path = course(result)
    if path.failed.all():
        return f"None of the {len(path.trial)} trials succeeded."
    if not path.kept.any():
        return f"None of the {len(path.trial)} trials kept the constraints on outcomes."
    if len(result.objectives) > 1:
        return (
            f"{len(result.pareto)} of {len(path.trial)} trials are beaten by no other "
            f"in {' and '.join(result.objectives)}."
        )
    verb = "smallest" if path.sign > 0 else "largest"
    kept = " that keeps the constraints" if result.outcome_constraints else ""
    text = (
        f"The {verb} value{kept} seen in {len(path.trial)} trials is "
        f"{general(float(result.best_value), 6)}"
    )
    if result.optimum is not None:
        gap = path.sign * (float(result.best_value) - float(result.optimum))
        text += (
            f", {general(abs(gap), 2)} {'from' if gap >= 0 else 'beyond'} the known "
            f"optimum {general(float(result.optimum), 6)}"
        )
    return text + "."
