"""What the evidence says of one structure among those compared, in sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bokern.evidence import AVERAGE_WITHIN, FLAGS, Evidence, preference
from bokern.selection.attempt import Attempt
from bokern.selection.axes import listed

REACHED = {
    "finalist": "sampled",
    "converged": "optimised to the end",
    "scouted": "looked at",
    "pruned": "dropped as far behind",
    "failed": "failed",
    "unreached": "left when the budget was spent",
}
"""What became of a structure in a search."""

INTEGRALS = {"laplace": "Laplace's method", "smc": "sampling", "map": "plugging in"}


@dataclass(frozen=True)
class Rival:
    """The structure to compare with: the runner-up, or the best if it is another.

    Args:
        structure: Its text.
        gap: Log evidence of the structure that is explained less the rival's, nats.
        leads: Whether the rival is the more probable one.
        standard_error: Of the gap, from sampling alone; 0 if nothing was sampled.
        words: How strong a preference the gap is.
        integrals: How the hyperparameters of the two were integrated out.
        flags: Of the rival.
    """

    structure: str
    gap: float
    leads: bool
    standard_error: float
    words: str
    integrals: tuple[str, str]
    flags: tuple[str, ...] = ()

    @classmethod
    def of(cls, mine: Evidence, theirs: Evidence, structure: str, leads: bool) -> Rival:
        """From two evidences on the same data."""
        gap = mine.log_evidence - theirs.log_evidence
        error = math.hypot(mine.standard_error, theirs.standard_error)
        integrals = (mine.integration, theirs.integration)
        words = preference(gap)
        return cls(structure, gap, leads, error, words, integrals, theirs.flags)

    @property
    def sentence(self) -> str:
        """The rival, the gap, its error, and what to make of it."""
        name = "best structure" if self.leads else "closest rival"
        where = "behind" if self.gap >= 0 else "ahead"
        head = f"The {name} is {self.structure}, {_nats(self.gap)} nats {where}"
        prior = ""
        if self.leads == (self.gap > 0):
            prior = f", though {'more' if self.leads else 'less'} probable by its prior"
        advice = "" if abs(self.gap) >= AVERAGE_WITHIN else "; average rather than pick"
        return f"{head} {self._error}{prior}: {self.words}{advice}."

    @property
    def _error(self) -> str:
        mine, theirs = (INTEGRALS.get(name, name) for name in self.integrals)
        if self.standard_error > 0:
            text = f"standard error {_nats(self.standard_error)}"
            return f"({text})" if mine == theirs else f"({text}; {mine} and {theirs})"
        both = f"both by {mine}" if mine == theirs else f"by {mine} and by {theirs}"
        return f"({both}, without sampling error)"


def flag_sentence(structure: str, flags: Sequence[str]) -> str:
    """The flags of a structure with their meanings."""
    meanings = [
        f"{flag} ({FLAGS.get(flag, 'see the documentation')})" for flag in flags
    ]
    return f"{structure} carries {listed(meanings)}."


def reached(attempt: Attempt) -> str:
    """A key of ``REACHED``: what became of a structure."""
    if attempt.score is None and attempt.status != "failed":
        return "unreached"
    return attempt.status


def tried_sentence(trace: Sequence[Attempt], compared: int, failed: int) -> str:
    """How many structures were tried, and how far they came.

    Args:
        trace: Of a search; empty if the structures were listed.
        compared: How many structures have an evidence.
        failed: How many of a list could not be fitted.
    """
    if not trace:
        text = f"{_count(compared)} compared"
        return f"{text}, {failed} could not be fitted." if failed else f"{text}."
    counts = Counter(map(reached, trace))
    words = [f"{counts[s]} {REACHED[s]}" for s in REACHED if counts[s]]
    rounds = max(attempt.round for attempt in trace)
    expanded = f" in {rounds} round{'s' * (rounds > 1)} of expansion" if rounds else ""
    spent = sum(attempt.evaluations for attempt in trace)
    return (
        f"{_count(len(trace))} tried{expanded}, with {spent:,} likelihood evaluations: "
        f"{listed(words, len(REACHED))}."
    )


def _count(number: int) -> str:
    return "1 structure was" if number == 1 else f"{number} structures were"


def _nats(value: float) -> str:
    return f"{abs(value):.1f}"
