"""What a node knows of the structures that it compared."""

from __future__ import annotations

from dataclasses import dataclass, field

from bokern.ax.choice import evidence_of, heaviest, weights
from bokern.ax.record import StructureRecord, Thetas, Weights
from bokern.selection import Comparison

GROWTH = 1.2
"""Factor by which the data must have grown before structures are compared again."""

KEPT = 3
"""Structures of an earlier search that the next begins with."""

Evidences = dict[str, dict[str, dict[str, float]]]


@dataclass
class Memory:
    """For each metric the structures in use, and where they come from.

    A cache: the truth is the newest record on the experiment.

    Args:
        incumbents: Structures in use and their weights.
        searched_at: Observations when a comparison was last begun. One that failed
            counts, so that it is not tried again at every trial.
        evidence: Of the structures compared, as `evidence_of` gives it.
        why: What the last comparison said.
        warm: Hyperparameters that fits start from, by structure.
        theta: Those of the last fit, by structure.
        comparisons: The last ones, in this process.
    """

    incumbents: dict[str, Weights] = field(default_factory=dict)
    searched_at: dict[str, int] = field(default_factory=dict)
    evidence: Evidences = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    warm: Thetas = field(default_factory=dict)
    theta: Thetas = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)

    def is_behind(self, record: StructureRecord) -> bool:
        """Whether a record is of no earlier comparison of any metric."""
        return all(
            record.searched_at.get(metric, 0) >= count
            for metric, count in self.searched_at.items()
        )

    def recall(self, record: StructureRecord, rows: int) -> None:
        """Takes over what a record says.

        Args:
            record: The newest.
            rows: Number of observations to be fitted now.
        """
        self.incumbents = {m: dict(w) for m, w in record.incumbents.items()}
        self.searched_at = dict(record.searched_at)
        self.evidence = {m: dict(e) for m, e in record.evidence.items()}
        self.why = dict(record.why)
        # What was fitted last is nearest, and the others are kept for later draws.
        newer = {} if record.rows == rows else record.theta
        self.warm = {
            metric: {**record.warm.get(metric, {}), **newer.get(metric, {})}
            for metric in record.warm.keys() | newer.keys()
        }
        self.theta = {m: dict(t) for m, t in record.theta.items()}

    def is_due(self, metric: str, count: int) -> bool:
        """Whether so many observations call for a comparison."""
        return count >= GROWTH * self.searched_at.get(metric, 0)

    def keep(self, metric: str, found: Comparison, selection: str) -> None:
        """Takes over a comparison."""
        self.comparisons[metric] = found
        self.incumbents[metric] = weights(found, selection)
        self.evidence[metric] = evidence_of(found)
        self.why[metric] = f"{len(found.y)} observations: {found.statement}"
        self.warm[metric] = {
            str(c.structure): list(c.fit.theta) for c in found.candidates
        }

    def keep_heaviest(self) -> None:
        """One structure a metric."""
        self.incumbents = {m: heaviest(w) for m, w in self.incumbents.items()}

    def known(self, metric: str) -> dict[str, list[float]]:
        """The weightiest structures in use, with their last hyperparameters."""
        chosen = self.incumbents.get(metric, {})
        theta = {**self.warm.get(metric, {}), **self.theta.get(metric, {})}
        ranked = sorted(chosen, key=lambda text: -chosen[text])
        return {text: theta[text] for text in ranked[:KEPT] if text in theta}
