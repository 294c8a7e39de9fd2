"""Draws from Gaussian-process priors that are invariant under a group."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.quasirandom import SobolEngine

from bokern.errors import DataError
from bokern.numerics import cholesky
from bokern.problems.covariance import invariant, matern52
from bokern.problems.problem import Problem
from bokern.seeding import generator, spawn
from bokern.views import Group, Orbit, cyclic

_SCREENED = 2**12
_POLISHED = 16


class InvariantDraw(Problem):
    r"""One draw from an invariant Matérn-5/2 prior on the unit cube.

    The prior is drawn at ``points`` uniform random points, and the function is the
    posterior mean that interpolates them, so it is smooth, cheap and exactly
    invariant. Its minimum is found once, on demand, by multi-start L-BFGS.

    Args:
        group: The group, by default the cyclic shifts of three columns.
        dim: The number of parameters.
        lengthscale: In units of the cube.
        points: How many values are drawn.
        normalised: False for the published orbit mean, whose prior variance is larger
            near points that the group fixes; True for a variance of 1 everywhere.
        seed: A seed is a function.

    Raises:
        DataError: If the lengthscale or the number of points is not positive.
        GroupError: If the group does not act on ``dim`` columns.

    References:
        Brown, Cioba, Bogunovic: Sample-efficient Bayesian Optimisation Using Known
        Invariances. NeurIPS 2024, for the published form.
    """

    def __init__(
        self,
        group: Group | None = None,
        dim: int = 3,
        lengthscale: float = 0.18,
        points: int = 256,
        normalised: bool = False,
        seed: int = 0,
    ) -> None:
        if not (lengthscale > 0 and points > 0):
            raise DataError(
                "InvariantDraw expects a positive lengthscale and a positive number "
                f"of points, got {lengthscale!r} and {points!r}."
            )
        columns = tuple(f"x{i}" for i in range(1, dim + 1))
        self._group = cyclic(3) if group is None else group
        self._orbit = Orbit(self._group.resolve(columns), dim)
        self._profile = matern52(lengthscale)
        self._normalised = normalised
        self._seed = seed
        self._dim = dim
        source = generator("InvariantDraw", seed)
        X = torch.rand(points, dim, dtype=torch.float64, generator=source)
        z = torch.randn(points, 1, dtype=torch.float64, generator=source)
        L, _ = cholesky(self._covariance(X, X))
        self._X = X
        # f = L z at the points, so K⁻¹ f = L⁻ᵀ z.
        self._weights = torch.linalg.solve_triangular(L.mT, z, upper=True).squeeze(-1)

    @property
    def name(self) -> str:
        """The group and the form of the prior."""
        form = "normalised" if self._normalised else "orbit_mean"
        return f"{self._group.kind}_{self._dim}d_{form}_{self._seed}"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The unit cube."""
        return ((0.0, 1.0),) * self._dim

    @property
    def group(self) -> str:
        """The group as text that a structure reads, such as ``cyclic(3)``."""
        return repr(self._group)

    @property
    def optimum(self) -> float:
        """The least value found by multi-start optimisation."""
        return self._minimum[0]

    @property
    def optimizers(self) -> tuple[tuple[float, ...], ...]:
        """The distinct images of the minimiser under the group."""
        best = torch.tensor([self._minimum[1]], dtype=torch.float64)
        images = self._orbit(best).squeeze(-2).tolist()
        # Images of a point that the group fixes differ by the optimiser's precision.
        distinct = {tuple(round(x, 5) for x in image): tuple(image) for image in images}
        return tuple(distinct.values())

    def _covariance(self, x1: Tensor, x2: Tensor) -> Tensor:
        return invariant(self._profile, x1, x2, self._orbit, self._normalised)

    def _evaluate(self, X: Tensor) -> Tensor:
        return self._covariance(X, self._X.to(X)) @ self._weights.to(X)

    @cached_property
    def _minimum(self) -> tuple[float, tuple[float, ...]]:
        engine = SobolEngine(self._dim, scramble=True, seed=spawn("minimum"))
        grid = engine.draw(_SCREENED, dtype=torch.float64)
        candidates = torch.cat([grid, self._X])
        order = self._evaluate(candidates).argsort()[:_POLISHED]
        ends = [self._polish(start.numpy()) for start in candidates[order]]
        return min(ends)

    def _polish(self, start: np.ndarray) -> tuple[float, tuple[float, ...]]:
        def value_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
            X = torch.tensor(x, dtype=torch.float64).unsqueeze(0).requires_grad_()
            value = self._evaluate(X)[0]
            (slope,) = torch.autograd.grad(value, X)
            return value.item(), slope.squeeze(0).numpy()

        end = minimize(
            value_and_gradient,
            start,
            jac=True,
            bounds=self.bounds,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-9},
        )
        return float(end.fun), tuple(map(float, end.x))
