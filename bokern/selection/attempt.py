"""What a search looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import pandas as pd

STATUSES = ("unreached", "scouted", "pruned", "converged", "finalist", "failed")
"""From a first look to the last step; "pruned" fell too far behind to go on, and
"unreached" was left when the budget was spent."""


@dataclass(frozen=True)
class Attempt:
    """One structure that a search looked at, and how far it came.

    Args:
        structure: Its text.
        parent: Text of the structure it was derived from; empty for those that the
            search began with.
        move: How, in words; empty for those that it began with.
        round: Number of the expansion, 0 for those that it began with.
        score: Log evidence of the last step, nats of the raw targets of the rows that
            step saw; None if it failed.
        status: One of ``STATUSES``.
        evaluations: Of the likelihood, in all steps.
        seconds: Of work, in all steps.
        rows: Observations that the score is of; 0 if not known.
    """

    structure: str
    parent: str
    move: str
    round: int
    score: float | None
    status: str
    evaluations: int
    seconds: float
    rows: int = 0


def trace_table(trace: Sequence[Attempt]) -> pd.DataFrame:
    """A row an attempt, in the order in which a search looked at them."""
    return pd.DataFrame([asdict(a) for a in trace], columns=list(COLUMNS))


COLUMNS = tuple(field.name for field in fields(Attempt))
