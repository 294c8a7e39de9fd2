"""What a search looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import pandas as pd

from bokern.errors import InputError, StorageError
from bokern.structures import parse

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
        score: Log evidence of the last step that succeeded, nats of the raw targets of
            the rows that it saw: comparable among attempts of as many ``rows`` only.
            None without one.
        status: One of ``STATUSES``.
        evaluations: Of the likelihood, in all steps that succeeded.
        seconds: Of work, in all steps, failed ones included.
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

    @property
    def looked_at(self) -> bool:
        """Whether the search came to it before the budget was spent."""
        return self.status == "failed" or self.score is not None

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Attempt:
        """Reads a document with the fields by their names.

        Raises:
            StorageError: If it lacks or garbles one.
        """
        try:
            attempt = cls(**document)
            for text in (attempt.structure, attempt.parent or attempt.structure):
                parse(text)
        except (TypeError, InputError) as error:
            raise StorageError(f"an attempt of a trace: {error}") from error
        for name, kinds in _JSON_TYPES.items():
            value = getattr(attempt, name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise StorageError(
                    f"the {name} of an attempt of a trace: {value!r:.60}"
                )
        if attempt.status not in STATUSES:
            raise StorageError(f"the status of an attempt: {attempt.status!r:.60}")
        return attempt


_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "move": (str,),
    "round": (int,),
    "score": (int, float, type(None)),
    "status": (str,),
    "evaluations": (int,),
    "seconds": (int, float),
    "rows": (int,),
}


def trace_table(trace: Sequence[Attempt]) -> pd.DataFrame:
    """A row an attempt, in the order in which a search looked at them."""
    return pd.DataFrame([asdict(a) for a in trace], columns=list(COLUMNS))


COLUMNS = tuple(field.name for field in fields(Attempt))
