"""Functions without a symmetry or a warp: draws from a plain Matérn-5/2 prior."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from benchmarks.identify.truths import FAMILIES
from bokern.numerics import cholesky
from bokern.problems import Problem
from bokern.problems.covariance import matern52, plain
from bokern.seeding import generator

DIM = 3
POINTS = 512
GRID = 2**14


class PlainDraw(Problem):
    """One draw from a Matérn-5/2 prior on the unit cube, a lengthscale each column.

    The posterior mean through ``POINTS`` drawn values; lengthscales are drawn as those
    of `benchmarks.identify`.

    Args:
        seed: A seed is a function.
    """

    def __init__(self, seed: int = 0) -> None:
        source = generator("alarms", seed)
        self._seed = seed
        self.lengthscale = FAMILIES["matern"].draw_values(source)["lengthscale"]
        self._X = torch.rand(POINTS, DIM, dtype=torch.float64, generator=source)
        z = torch.randn(POINTS, 1, dtype=torch.float64, generator=source)
        L, _ = cholesky(self._covariance(self._X, self._X))
        # f = L z at the points, so K⁻¹ f = L⁻ᵀ z.
        self._weights = torch.linalg.solve_triangular(L.mT, z, upper=True).squeeze(-1)

    @property
    def name(self) -> str:
        """Prior and seed."""
        return f"plain_{DIM}d_{self._seed}"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The unit cube."""
        return ((0.0, 1.0),) * DIM

    @property
    def optimum(self) -> float:
        """The least value on a dense set of points."""
        return self._least[0]

    @property
    def optimizers(self) -> tuple[tuple[float, ...], ...]:
        """Where it is."""
        return (self._least[1],)

    @cached_property
    def _least(self) -> tuple[float, tuple[float, ...]]:
        source = generator("alarms", "grid", self._seed)
        grid = torch.rand(GRID, DIM, dtype=torch.float64, generator=source)
        values = self._evaluate(grid)
        best = int(values.argmin())
        return float(values[best]), tuple(grid[best].tolist())

    def _covariance(self, x1: Tensor, x2: Tensor) -> Tensor:
        scale = self.lengthscale.to(x1)
        return plain(matern52(1.0), x1 / scale, x2 / scale)

    def _evaluate(self, X: Tensor) -> Tensor:
        return self._covariance(X, self._X.to(X)) @ self._weights.to(X)
