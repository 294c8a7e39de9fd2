"""What stands on the page, result by result, before it is turned into HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bokern.reporting import provenance
from bokern.reporting.bars import evidence_bars
from bokern.reporting.calibration import leave_one_out_calibration
from bokern.reporting.digits import general, nats, percent
from bokern.reporting.drawing import Drawing, drawn
from bokern.reporting.findings import Findings, Tried, findings, tried
from bokern.reporting.flags import meanings
from bokern.reporting.history import optimization_history
from bokern.reporting.progress import course
from bokern.reporting.regret_curve import regret
from bokern.reporting.results import ComparisonLike, OptimizationLike
from bokern.reporting.slices import posterior_slices
from bokern.reporting.structure_history import structure_probabilities

__all__ = [
    "ComparisonSection",
    "OptimizationSection",
    "comparison_section",
    "optimization_section",
]


@dataclass(frozen=True)
class ComparisonSection:
    """A ranked comparison as the page shows it."""

    heading: str
    statement: str
    rows: list[dict[str, str]]
    flags: list[tuple[str, str]]
    failures: list[tuple[str, str]]
    priors: list[tuple[str, list[dict[str, str]]]]
    findings: Findings
    drawings: list[Drawing]
    tried: Tried | None
    facts: list[tuple[str, str]]

    @property
    def all_drawings(self) -> list[Drawing]:
        """In the order in which they appear."""
        tried = [] if self.tried is None else self.tried.drawings
        return [*self.findings.drawings, *self.drawings, *tried]


@dataclass(frozen=True)
class OptimizationSection:
    """An optimisation as the page shows it, with its last comparison."""

    heading: str
    statement: str
    best: list[tuple[str, str]]
    columns: list[str]
    rows: list[list[str]]
    drawings: list[Drawing]
    facts: list[tuple[str, str]]
    comparison: ComparisonSection | None


def comparison_section(
    found: ComparisonLike, heading: str, at: Sequence[float] | None = None
) -> ComparisonSection:
    """Tables and figures of a comparison.

    Args:
        found: The comparison.
        heading: What to call it.
        at: The point through which slices go; the median by default.

    Returns:
        The section; a figure that cannot be drawn leaves its reason.
    """
    return ComparisonSection(
        heading=heading,
        statement=str(found.statement),
        rows=_ranking(found),
        flags=meanings(found.table["flags"]),
        failures=[(str(text), str(reason)) for text, reason in found.failures],
        priors=_priors(found),
        findings=findings(found),
        tried=tried(found),
        drawings=[
            drawn("Log evidence", lambda: evidence_bars(found)),
            drawn("Posterior", lambda: posterior_slices(found, at=at)),
            drawn(
                "Leave-one-out calibration", lambda: leave_one_out_calibration(found)
            ),
        ],
        facts=provenance.of_comparison(found),
    )


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
            found, "Structures at the last comparison", found.X[best].tolist()
        )
    trials = result.trials
    return OptimizationSection(
        heading=heading,
        statement=_outcome(result),
        best=[(str(name), general(at, 6)) for name, at in _items(result)],
        columns=[str(column) for column in trials.columns],
        rows=[[general(cell) for cell in row] for row in trials.to_numpy(object)],
        drawings=[
            drawn("Optimisation history", lambda: optimization_history(result)),
            drawn("Regret", lambda: regret(result)),
            *_believed(result),
        ],
        facts=provenance.of_optimization(result),
        comparison=comparison,
    )


def _believed(result: OptimizationLike) -> list[Drawing]:
    """The structures by trial, if any were compared."""
    if result.structure_history.empty:
        return []
    title = "Structures by trial"
    return [drawn(title, lambda: structure_probabilities(result))]


def _ranking(found: ComparisonLike) -> list[dict[str, str]]:
    rows = []
    for row in found.table.to_dict("records"):
        error = row["standard_error"]
        certain = error is None or not error > 0
        rows.append(
            {
                "structure": str(row["structure"]),
                "log_evidence": nats(row["log_evidence"], 2)
                + ("" if certain else f" ± {nats(error, 2)}"),
                "gap": nats(row["gap"], 2),
                "log_prior": nats(row["log_prior"], 2),
                "probability": percent(row["probability"]),
                "family": str(row["family"]),
                "hyperparameters": f"{nats(row['effective_hyperparameters'])} of "
                f"{row['hyperparameters']}",
                "bic": nats(row["bic"]),
                "leave_one_out": nats(row["leave_one_out"]),
                "flags": str(row["flags"]),
                "seconds": nats(row["seconds"]),
            }
        )
    return rows


def _priors(found: ComparisonLike) -> list[tuple[str, list[dict[str, str]]]]:
    """The priors table, structure by structure, in the order of the ranking."""
    columns = list(found.priors.columns)
    groups: dict[str, list[dict[str, str]]] = {}
    for values in found.priors.to_numpy(object):
        row = dict(zip(columns, values, strict=True))
        groups.setdefault(str(row["structure"]), []).append(
            {
                "parameter": str(row["hyperparameter"]),
                "prior": str(row["prior"]),
                "fitted": general(row["fitted"]),
            }
        )
    return list(groups.items())


def _items(result: OptimizationLike) -> list[tuple[str, Any]]:
    return list((result.best_parameters or {}).items())


def _outcome(result: OptimizationLike) -> str:
    """The result of an optimisation in a sentence."""
    path = course(result)
    if path.failed.all():
        return f"None of the {len(path.trial)} trials succeeded."
    verb = "smallest" if path.sign > 0 else "largest"
    text = (
        f"The {verb} value seen in {len(path.trial)} trials is "
        f"{general(float(result.best_value), 6)}"
    )
    if result.optimum is not None:
        gap = path.sign * (float(result.best_value) - float(result.optimum))
        text += (
            f", {general(abs(gap), 2)} {'from' if gap >= 0 else 'beyond'} the known "
            f"optimum {general(float(result.optimum), 6)}"
        )
    return text + "."
