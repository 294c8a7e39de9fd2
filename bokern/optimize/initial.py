"""The points of a study before there is a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from botorch.utils.sampling import get_polytope_samples
from torch.quasirandom import SobolEngine

from bokern.optimize.constraints import keeps_all
from bokern.optimize.settings import Problem
from bokern.optimize.space import Value
from bokern.seeding import spawn

DRAWS = 4096
"""Sobol points looked at before the constraints are taken to be too tight for them."""


def initial_point(
    problem: Problem, seed: int, tried: Sequence[Mapping[str, Any]]
) -> dict[str, Value]:
    """The first scrambled Sobol point that keeps the constraints and was not tried.

    It depends on its arguments alone. Where constraints leave too little room for such
    points, it is drawn uniformly from what they leave.

    Args:
        problem: Space and constraints.
        seed: Of the sequence.
        tried: Points that were evaluated, or are about to be.
    """
    searched = problem.searched
    engine = SobolEngine(len(searched), scramble=True, seed=spawn(seed, "initial"))
    known = {_key(point, problem.names) for point in tried}
    spare: dict[str, Value] | None = None
    for unit in engine.draw(DRAWS, dtype=torch.float64).tolist():
        places = zip(searched, unit, strict=True)
        point = {**problem.fixed, **{p.name: p.at(u) for p, u in places}}
        point = {name: point[name] for name in problem.names}
        if not keeps_all(problem.constraints, point):
            continue
        if _key(point, problem.names) not in known:
            return point
        spare = point
    if spare is not None:
        return spare
    return _inside(problem, spawn(seed, "inside", len(tried)))


def _inside(problem: Problem, seed: int) -> dict[str, Value]:
    """A point drawn from within the constraints, by a random walk."""
    ranges = [p for p in problem.searched if p.bounds is not None and not p.log]
    others = [p for p in problem.searched if p not in ranges]
    bounds = torch.tensor([p.bounds for p in ranges], dtype=torch.float64).mT
    names = [p.name for p in ranges]
    walls = [
        (
            torch.tensor([names.index(name) for name, _ in c.weights]),
            torch.tensor([-w for _, w in c.weights], dtype=torch.float64),
            -c.bound,
        )
        for c in problem.constraints
    ]
    drawn = get_polytope_samples(
        64, bounds, inequality_constraints=walls, seed=seed, n_burnin=1000
    )
    units = torch.rand(
        len(others),
        generator=torch.Generator().manual_seed(seed),
        dtype=torch.float64,
    ).tolist()
    found: dict[str, Value] = {}
    for row in drawn.tolist():
        found = {
            **problem.fixed,
            **{p.name: p.at(u) for p, u in zip(others, units, strict=True)},
            **{
                p.name: round(v) if p.kind == "int" else v
                for p, v in zip(ranges, row, strict=True)
            },
        }
        if keeps_all(problem.constraints, found):
            break  # rounded whole numbers may break a constraint
    return {name: found[name] for name in problem.names}


def _key(point: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(point[name] for name in names)
