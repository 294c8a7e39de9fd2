"""A ranked comparison as the page shows it, before it is turned into HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bokern.reporting import provenance
from bokern.reporting.bars import evidence_bars
from bokern.reporting.by_structure import structure_posteriors
from bokern.reporting.calibration import leave_one_out_calibration
from bokern.reporting.digits import general, nats, percent
from bokern.reporting.drawing import Drawing, drawn
from bokern.reporting.findings import Findings, Tried, findings, tried
from bokern.reporting.flags import meanings
from bokern.reporting.hidden import has_hidden_functions, hidden_functions
from bokern.reporting.results import ComparisonLike
from bokern.reporting.slices import posterior_slices
from bokern.reporting.surrogate import Source
from bokern.reporting.warp import has_warp, learned_warp

__all__ = ["ComparisonSection", "comparison_section"]

NEGLIGIBLE = 0.01
"""Probability below which the runners-up are not drawn."""


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


def comparison_section(
    found: ComparisonLike,
    heading: str,
    at: Sequence[float] | None = None,
    is_part: bool = False,
) -> ComparisonSection:
    """Tables and figures of a comparison.

    Args:
        found: The comparison.
        heading: What to call it.
        at: The point through which slices go; the median by default.
        is_part: Whether an optimisation shows it, with its own model of all trials:
            the best structure is then not drawn once more.

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
            *([] if is_part else [_posterior(found, at), *bent(found)]),
            *_rivals(found, at),
            *([] if is_part else [_calibration(found)]),
        ],
        facts=provenance.of_comparison(found),
    )


def _posterior(found: ComparisonLike, at: Sequence[float] | None) -> Drawing:
    return drawn("Posterior", lambda: posterior_slices(found, at=at))


def bent(source: Source) -> list[Drawing]:
    """What a model makes of the parameters first, if it is something to draw."""
    drawings = []
    if has_hidden_functions(source):
        drawings.append(drawn("Hidden functions", lambda: hidden_functions(source)))
    if has_warp(source):
        drawings.append(drawn("Learned warp", lambda: learned_warp(source)))
    return drawings


def _calibration(found: ComparisonLike) -> Drawing:
    title = "Leave-one-out calibration"
    return drawn(title, lambda: leave_one_out_calibration(found))


def _rivals(found: ComparisonLike, at: Sequence[float] | None) -> list[Drawing]:
    """The posteriors of several structures, if several are probable."""
    if not (found.table["probability"] > NEGLIGIBLE)[1:].any():
        return []
    title = "Posterior by structure"
    return [drawn(title, lambda: structure_posteriors(found, at=at))]


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
