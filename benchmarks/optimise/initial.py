"""The points that every method of a seed begins with."""

from __future__ import annotations

import torch
from torch.quasirandom import SobolEngine

from benchmarks.optimise.target import Parameters, Target, parameters_of


def initial_points(target: Target, seed: int) -> list[Parameters]:
    """Scrambled-Sobol points, the same for every method of a seed.

    There are ``max(5, 2 dim)``: 5 in one and two dimensions (Ax's own number), then
    two for each parameter.
    """
    return sobol_points(target, max(5, 2 * len(target.space)), seed)


def sobol_points(target: Target, n: int, seed: int) -> list[Parameters]:
    """The first ``n`` points of a scrambled Sobol sequence over the space.

    The values of a choice have equal shares of the sequence.
    """
    parameters = parameters_of(target)
    engine = SobolEngine(len(parameters), scramble=True, seed=seed)
    return [
        {p.name: p.at(unit) for p, unit in zip(parameters, row, strict=True)}
        for row in engine.draw(n, dtype=torch.float64).tolist()
    ]
