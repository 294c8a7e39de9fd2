"""What is minimised, for how long, and what counts as solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.quasirandom import SobolEngine

from bokern.problems import (
    Branin,
    Bukin6,
    Gramacy2D,
    GramacyLee,
    Hartmann6,
    InvariantDraw,
    Michalewicz5,
    Problem,
    Xiong,
)

Parameters = dict[str, float]


@dataclass(frozen=True)
class Objective:
    """An objective of the benchmark.

    Args:
        problem: Makes the problem of a seed; draws are another function each seed.
        budget: Evaluations, the initial ones included.
        solved: A simple regret below this counts as solved. For a draw it is a share
            of the distance from the prior mean, 0, to the minimum.
    """

    problem: Callable[[int], Problem]
    budget: int
    solved: float
    relative: bool = False

    def threshold(self, problem: Problem) -> float:
        """The regret below which a run on this problem is solved."""
        return self.solved * abs(problem.optimum) if self.relative else self.solved


OBJECTIVES = {
    "branin": Objective(lambda _: Branin(), 30, 0.01),
    "gramacy2d": Objective(lambda _: Gramacy2D(), 30, 0.01),
    "gramacy_lee": Objective(lambda _: GramacyLee(), 20, 0.02),
    "cyclic3": Objective(lambda s: InvariantDraw(seed=s), 30, 0.1, relative=True),
    "cyclic3_normalised": Objective(
        lambda s: InvariantDraw(seed=s, normalised=True), 30, 0.1, relative=True
    ),
    "xiong": Objective(lambda _: Xiong(), 20, 0.01),
    "bukin6": Objective(lambda _: Bukin6(), 30, 1.0),
    "michalewicz5": Objective(lambda _: Michalewicz5(), 30, 0.5),
    "hartmann6": Objective(lambda _: Hartmann6(), 50, 0.1),
}

SUITES = {
    "small": ("branin", "gramacy2d", "gramacy_lee", "cyclic3"),
    "full": tuple(OBJECTIVES),
}


def initial_points(problem: Problem, seed: int) -> list[Parameters]:
    """Scrambled-Sobol points, the same for every method of a seed.

    There are ``max(5, 2 dim)``: 5 in one and two dimensions (Ax's own number), then
    two for each parameter.
    """
    return sobol_points(problem, max(5, 2 * problem.dim), seed)


def sobol_points(problem: Problem, n: int, seed: int) -> list[Parameters]:
    """The first ``n`` points of a scrambled Sobol sequence over the problem's box."""
    unit = SobolEngine(problem.dim, scramble=True, seed=seed).draw(
        n, dtype=torch.float64
    )
    lower, upper = torch.tensor(problem.bounds, dtype=torch.float64).T
    return [
        dict(zip(problem.parameter_names, row, strict=True))
        for row in (lower + (upper - lower) * unit).tolist()
    ]
