"""One run: a truth, a number of points, a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmarks.attempt import attempt
from benchmarks.identify.truths import DIM, FAMILIES, draw_truth
from benchmarks.tasks import Record
from bokern.selection import Comparison
from bokern.structures import parse

METHODS = ("search", "compare")


@dataclass(frozen=True)
class IdentifyRun:
    """A run that can be pickled and that names itself.

    Args:
        truth: A name of ``FAMILIES``.
        n: Number of points.
        seed: Of the draw and of the search.
        method: ``"search"`` or ``"compare"``.
    """

    truth: str
    n: int
    seed: int
    method: str = "search"

    @property
    def key(self) -> str:
        """Method, truth, number of points and seed."""
        return f"{self.method}/{self.truth}/{self.n}/{self.seed}"

    def execute(self) -> Record:
        """Asks which candidate made the draw, and records the answer or the failure."""
        drawn = draw_truth(self.truth, self.n, self.seed)
        return {
            "truth": self.truth,
            "n": self.n,
            "seed": self.seed,
            "method": self.method,
            "noise": drawn.noise,
            "drawn": {name: v.tolist() for name, v in drawn.values.items()},
            **attempt(lambda: verdict(self._compared())),
        }

    def _compared(self) -> Comparison:
        import bokern

        sample = draw_truth(self.truth, self.n, self.seed).sample
        candidates = [family.structure for family in FAMILIES.values()]
        options: dict[str, Any] = {
            "bounds": sample.bounds,
            "seed": self.seed,
            "progress": False,
        }
        if self.method == "compare":
            return bokern.compare(candidates, sample.X, sample.y, **options)
        return bokern.search(sample.X, sample.y, candidates, **options)


def verdict(comparison: Comparison) -> Record:
    """What a comparison says of each of the seven, by short name."""
    columns = [f"x{j}" for j in range(DIM)]
    names = {parse(f.structure).resolve(columns): n for n, f in FAMILIES.items()}
    ranked = [names[s.resolve(comparison.column_names)] for s in comparison.structures]
    found = list(zip(ranked, comparison.candidates, strict=True))
    probability = dict(zip(ranked, comparison.probabilities, strict=True))
    return {
        "best": ranked[0],
        "log_evidence": {n: c.evidence.log_evidence for n, c in found},
        "standard_error": {n: c.evidence.standard_error for n, c in found},
        "integration": {n: c.evidence.integration for n, c in found},
        "probability": probability,
        "flags": {n: list(c.evidence.flags) for n, c in found},
        "objective": {n: c.fit.objective for n, c in found},
        "failures": [list(failure) for failure in comparison.failures],
        "gap": _gap([c.evidence.log_evidence for _, c in found]),
    }


def _gap(ranked: list[float]) -> float:
    """From the best to the second, nats."""
    return ranked[0] - ranked[1] if len(ranked) > 1 else math.nan
