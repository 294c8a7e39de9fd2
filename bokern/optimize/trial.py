"""A trial of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bokern.errors import TrialError
from bokern.inputs import is_whole
from bokern.optimize.space import Value, shown

PENDING, COMPLETED, FAILED = "pending", "completed", "failed"

INITIAL = "initial"
"""Generator of points that the user chose."""

Sems = Mapping[str, float | None]


@dataclass(frozen=True)
class Trial:
    """One evaluation, planned or done.

    Args:
        id: Its number, from 0.
        parameters: All of them, the fixed ones included.
        status: ``"pending"``, ``"completed"`` or ``"failed"``.
        values: Outcomes by name; empty unless completed.
        sems: Standard errors of the outcomes; None where the noise is unknown.
        reason: Why it failed.
        generator: ``"initial"``, ``"sobol"``, ``"symmetry test"``, or the structure of
            largest weight.
        structure: All structures behind it, with their weights.
        asked_at: When it was asked for or added, in seconds since 1970.
        ended_at: When it was told or failed; None while it is pending.
        seconds: From the beginning of the choice of its point to its end; NaN while it
            is pending.
        attempt: How often it was handed out.
        record: What the generator remembers of the structures, as JSON.
    """

    id: int
    parameters: Mapping[str, Value]
    status: str = PENDING
    values: Mapping[str, float] = field(default_factory=dict)
    sems: Sems = field(default_factory=dict)
    reason: str = ""
    generator: str = INITIAL
    structure: str = ""
    asked_at: float = 0.0
    ended_at: float | None = None
    seconds: float = math.nan
    attempt: int = 1
    record: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def value(self) -> float:
        """Its only or first outcome; NaN if it has none."""
        return next(iter(self.values.values()), math.nan)

    def to_json(self) -> dict[str, Any]:
        """A JSON document of what happened; the record is left out."""
        return {
            "trial": self.id,
            "parameters": dict(self.parameters),
            "status": self.status,
            "values": dict(self.values),
            "standard_errors": {k: v for k, v in self.sems.items() if v is not None},
            "reason": self.reason,
            "generator": self.generator,
            "structure": self.structure,
            "asked_at": self.asked_at,
            "ended_at": self.ended_at,
            "attempt": self.attempt,
        }


def trial_number(trial: Any) -> int:
    """The number of a trial that is given by itself or by its number.

    Raises:
        TrialError: If it is neither.
    """
    if isinstance(trial, Trial):
        return trial.id
    if is_whole(trial):
        return int(trial)
    raise TrialError(
        "a trial, its number or a dictionary of parameters is expected, got "
        f"{shown(trial)}"
    )
