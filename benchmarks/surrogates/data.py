"""Noisy evaluations at scattered points, and the function between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from bokern import seeding
from bokern.problems import Gramacy2D, GramacyLee, Hartmann6, Xiong
from bokern.problems.problem import Problem

NOISE = 0.01
"""Standard deviation of the noise, in those of the function."""

TEST_POINTS = 1000
TEST_SEED = 20_000


@dataclass(frozen=True)
class Function:
    """What is to be learned, and from how many points."""

    problem: Callable[[], Problem]
    sizes: tuple[int, ...] = (10, 20, 40)


FUNCTIONS = {
    "gramacy_lee": Function(GramacyLee),
    "xiong": Function(Xiong),
    "gramacy2d": Function(Gramacy2D),
    "hartmann6": Function(Hartmann6, (60,)),
}


@dataclass(frozen=True)
class Data:
    """Float64, raw units.

    Args:
        X: ``n x d``, scrambled Sobol points.
        y: ``n``, with noise.
        X_test: ``m x d``.
        f_test: ``m``, without noise.
        bounds: Of the columns.
        scale: Standard deviation of the function over the box.
    """

    X: Tensor
    y: Tensor
    X_test: Tensor
    f_test: Tensor
    bounds: tuple[tuple[float, float], ...]
    scale: float


def make_data(name: str, n: int, seed: int) -> Data:
    """The data of a seed; those of different sizes share no point but by chance."""
    problem = FUNCTIONS[name].problem()
    low, high = torch.tensor(problem.bounds, dtype=torch.float64).T

    def spread(count: int, which: int) -> Tensor:
        engine = SobolEngine(problem.dim, scramble=True, seed=which)
        return low + (high - low) * engine.draw(count, dtype=torch.float64)

    source = seeding.generator("surrogates", name, n, seed)
    X = spread(n, int(torch.randint(2**31, (), generator=source)))
    X_test = spread(TEST_POINTS, TEST_SEED)
    f_test = problem.evaluate(X_test)
    scale = f_test.std().item()
    noise = torch.randn(n, generator=source, dtype=torch.float64)
    y = problem.evaluate(X) + NOISE * scale * noise
    return Data(X, y, X_test, f_test, problem.bounds, scale)
