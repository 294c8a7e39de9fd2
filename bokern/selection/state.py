"""How far a search has come with one structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bokern.evidence import Evidence
from bokern.selection.attempt import Attempt
from bokern.selection.candidate import Candidate
from bokern.selection.jobs import Theta
from bokern.structures import Structure, parse


@dataclass
class State:
    """How far one structure has come.

    Args:
        structure: Columns by number.
        parent: See `Attempt`; columns by number.
        move: See `Attempt`.
        round: See `Attempt`.
        status: See `Attempt`.
        score: See `Attempt`.
        rows: Of the score.
        starts: Where the next fit starts.
        candidate: Its last fit, to some or to all rows.
        sampled: Its sampled evidence, used once those it is ranked with are sampled.
        error: Why the last step that was to bring a result failed.
        unsampled: Why its evidence could not be sampled.
        evaluations: Of the likelihood, in all steps that succeeded.
        seconds: Of work, in all steps, failed ones included.
        settled: Whether it was fitted to the rows of the last step.
        afresh: Whether it was fitted from screened starts.
        expanded: Whether others were derived from it.
    """

    structure: Structure
    parent: str = ""
    move: str = ""
    round: int = 0
    status: str = "unreached"
    score: float | None = None
    rows: int = 0
    starts: tuple[Theta, ...] = ()
    candidate: Candidate | None = None
    sampled: Evidence | None = None
    error: str = ""
    unsampled: str = ""
    evaluations: int = 0
    seconds: float = 0.0
    settled: bool = False
    afresh: bool = False
    expanded: bool = field(default=False, repr=False)

    @property
    def text(self) -> str:
        """The structure's text, columns by number."""
        return str(self.structure)

    @property
    def value(self) -> float:
        """The score; −inf without one."""
        return float("-inf") if self.score is None else self.score

    def flag(self, name: str) -> None:
        """Adds a flag to the evidence of the fit."""
        assert self.candidate is not None
        evidence = self.candidate.evidence
        flags = tuple(dict.fromkeys((*evidence.flags, name)))
        self.candidate = replace(
            self.candidate, evidence=replace(evidence, flags=flags)
        )

    def result(self, names: Sequence[str]) -> Candidate:
        """The fit with the seconds of all steps, columns by name."""
        assert self.candidate is not None
        return replace(
            self.candidate,
            structure=self.candidate.structure.named(names),
            evidence=replace(self.candidate.evidence, seconds=self.seconds),
        )

    def attempt(self, names: Sequence[str]) -> Attempt:
        """What the trace keeps, columns by name."""
        parent = str(parse(self.parent).named(names)) if self.parent else ""
        return Attempt(
            str(self.structure.named(names)),
            parent,
            self.move,
            self.round,
            self.score,
            self.status,
            self.evaluations,
            self.seconds,
            self.rows,
        )
