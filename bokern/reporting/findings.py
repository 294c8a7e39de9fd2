"""What the page says of a comparison's winner, and of all that a search tried."""

from __future__ import annotations

from dataclasses import dataclass

from bokern.errors import BokernError
from bokern.reporting.attempts import named_text, search_course
from bokern.reporting.digits import nats
from bokern.reporting.drawing import Drawing, drawn
from bokern.reporting.parts import decomposition
from bokern.reporting.results import ComparisonLike
from bokern.reporting.shares import variance_shares
from bokern.selection.verdict import REACHED, reached

__all__ = ["Findings", "Tried", "findings", "tried"]

MOST_ROWS = 300


@dataclass(frozen=True)
class Findings:
    """The winner taken apart, in sentences and figures.

    Attributes:
        headline: Of how many parts it is the sum; or why it could not be taken apart.
        parts: A sentence for each part, the noise and what is shared.
        verdict: What the evidence says.
        note: What the shares are.
        drawings: The parts and their shares.
    """

    headline: str
    parts: list[str]
    verdict: list[str]
    note: str
    drawings: list[Drawing]


@dataclass(frozen=True)
class Tried:
    """What a search tried: a figure and a table, the best first."""

    drawings: list[Drawing]
    rows: list[dict[str, str]]
    left_out: int


def findings(found: ComparisonLike) -> Findings:
    """Sentences and figures of the best structure.

    Args:
        found: A comparison.

    Returns:
        What to show; without parts and figures if it cannot be taken apart.
    """
    try:
        explanation = found.explain()
    except BokernError as error:
        return Findings(f"It could not be taken apart: {error}", [], [], "", [])
    return Findings(
        headline=explanation.headline,
        parts=list(explanation.findings),
        verdict=list(explanation.verdict),
        note=explanation.note,
        drawings=[
            drawn("Parts", lambda: decomposition(explanation)),
            drawn("Shares of the variance", lambda: variance_shares(explanation)),
        ],
    )


def tried(found: ComparisonLike) -> Tried | None:
    """What a search tried; None of a plain comparison."""
    if not found.trace:
        return None
    ranked = sorted(
        found.trace,
        key=lambda attempt: float("inf") if attempt.score is None else -attempt.score,
    )
    names = [str(name) for name in found.column_names]
    rows = [
        {
            "structure": named_text(attempt.structure, names),
            "parent": named_text(attempt.parent, names) if attempt.parent else "",
            "move": str(attempt.move),
            "round": str(attempt.round) if attempt.round else "start",
            "score": nats(attempt.score, 2),
            "status": REACHED.get(reached(attempt), str(attempt.status)),
            "evaluations": f"{attempt.evaluations:,}",
            "seconds": nats(attempt.seconds),
        }
        for attempt in ranked[:MOST_ROWS]
    ]
    course = drawn("What the search tried", lambda: search_course(found))
    return Tried([course], rows, len(ranked) - len(rows))
