"""One run: a draw, its points chosen by an optimiser or at random, and a search."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

import bokern
from benchmarks.alarms.draws import DIM, PlainDraw
from benchmarks.attempt import attempt
from benchmarks.tasks import Record
from bokern.seeding import generator
from bokern.selection import Comparison
from bokern.structures import Structure

DESIGNS = ("optimised", "random")
EVALUATIONS = 30


def has_symmetry(structure: Structure) -> bool:
    """Whether any part of it is averaged over a group."""
    return any(node.group is not None for node in structure.nodes())


def has_warp(structure: Structure) -> bool:
    """Whether any part of it warps its inputs."""
    return "warped" in structure.kinds


def has_either(structure: Structure) -> bool:
    """Whether any part of it is symmetric or warped."""
    return has_symmetry(structure) or has_warp(structure)


CLAIMS = {"symmetry": has_symmetry, "warp": has_warp}
"""What would be wrong of a plain draw."""


@dataclass(frozen=True)
class AlarmRun:
    """A run that can be pickled and that names itself.

    Args:
        design: ``"optimised"``, the trials of `bokern.minimize`, or ``"random"``.
        seed: Of the function, the optimisation and the search.
    """

    design: str
    seed: int

    @property
    def key(self) -> str:
        """Design and seed."""
        return f"{self.design}/{self.seed}"

    def execute(self) -> Record:
        """Gathers the data and searches them, and records what is claimed."""
        return {
            "design": self.design,
            "seed": self.seed,
            "evaluations": EVALUATIONS,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        problem = PlainDraw(self.seed)
        record: Record = {"lengthscale": problem.lengthscale.tolist()}
        if self.design == "random":
            X = random_points(self.seed)
        else:
            X, in_loop = _optimised(problem, self.seed)
            record["in_loop"] = in_loop
        found = bokern.search(
            X,
            problem.evaluate(X),
            bounds=problem.bounds,
            seed=self.seed,
            progress=False,
        )
        return record | claims_of(found)


def random_points(seed: int) -> Tensor:
    """Uniform points, ``EVALUATIONS x 3``."""
    source = generator("alarms", "points", seed)
    return torch.rand(EVALUATIONS, DIM, dtype=torch.float64, generator=source)


def _optimised(problem: PlainDraw, seed: int) -> tuple[Tensor, Record | None]:
    """Where `bokern.minimize` looked, and what its own last comparison says."""
    result = bokern.minimize(
        problem, problem.space, EVALUATIONS, seed=seed, progress=False
    )
    trials = result.trials[list(problem.parameter_names)].to_numpy(dtype=float)
    own = None if result.comparison is None else claims_of(result.comparison)
    return torch.tensor(trials, dtype=torch.float64), own


def claims_of(found: Comparison) -> Record:
    """Winner, most probable structure, and probabilities of what would be wrong.

    ``unfounded`` lists which of ``CLAIMS`` hold for the winner, the structure of the
    highest evidence; ``mode`` is the one of the highest posterior probability.
    """
    best = found.candidates[0]
    top = max(found.probabilities)
    mode = found.structures[found.probabilities.index(top)]
    return {
        "best": str(best.structure),
        "unfounded": [kind for kind, has in CLAIMS.items() if has(best.structure)],
        "mode": str(mode),
        "mode_unfounded": [kind for kind, has in CLAIMS.items() if has(mode)],
        "flags": list(best.evidence.flags),
        "probability": {
            "either": found.probability(has_either),
            **{kind: found.probability(has) for kind, has in CLAIMS.items()},
        },
        "lead": _lead(found),
        "ranked": [
            [str(c.structure), c.evidence.log_evidence, p]
            for c, p in zip(found.candidates, found.probabilities, strict=True)
        ][:10],
        "candidates": len(found.candidates),
    }


def _lead(found: Comparison) -> float | None:
    """From the best to the best that claims nothing, nats; None if there is none."""
    top = found.candidates[0].evidence.log_evidence
    sober = [
        c.evidence.log_evidence for c in found.candidates if not has_either(c.structure)
    ]
    return top - max(sober) if sober else None
