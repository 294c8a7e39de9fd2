r"""Seven priors in three dimensions, and draws from each.

Covariances are written out on top of `bokern.problems.covariance`, apart from
``bokern.kernels``, which they judge. All have unit variance; hyperparameters of a draw
are log-uniform in the ranges below, hyperdata standard normal, and are recorded. The
ranges were set by what is identifiable in principle (see
`benchmarks.identify.separation`), before any search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bokern.kernels import spread_places
from bokern.numerics import cholesky, squared_distance
from bokern.problems.covariance import invariant, matern52, plain, squared_exponential
from bokern.problems.samples import Sample
from bokern.seeding import generator
from bokern.views import Group, Orbit, cyclic, permutations

DIM = 3
NOISE = (0.05, 0.1)
"""Standard deviation of the noise, log-uniform; functions have unit variance."""

PLACES = 5
"""Of hyperdata, where the structure has them too."""

Values = dict[str, Tensor]
Covariance = Callable[[Tensor, Values], Tensor]


@dataclass(frozen=True)
class Range:
    """How a hyperparameter of a truth is drawn: log-uniform.

    Args:
        size: How many values.
        low: Least value.
        high: Greatest value.
        inverted: Whether each value is replaced by its reciprocal with probability ½.
    """

    size: int
    low: float
    high: float
    inverted: bool = False

    def draw(self, source: torch.Generator) -> Tensor:
        """``size`` values."""
        share = torch.rand(self.size, dtype=torch.float64, generator=source)
        log = math.log(self.low) + (math.log(self.high) - math.log(self.low)) * share
        if self.inverted:
            sign = torch.randint(2, (self.size,), generator=source)
            log = log * (1.0 - 2.0 * sign)
        return log.exp()

    def free(self, values: Tensor) -> Tensor:
        """Coordinates in which they are unbounded."""
        return values.log()

    def values(self, free: Tensor) -> Tensor:
        """What `free` came from."""
        return free.exp()


@dataclass(frozen=True)
class Normal:
    """Hyperparameters of a truth that are standard normal.

    Args:
        size: How many.
    """

    size: int

    def draw(self, source: torch.Generator) -> Tensor:
        """``size`` values."""
        return torch.randn(self.size, dtype=torch.float64, generator=source)

    def free(self, values: Tensor) -> Tensor:
        """The values themselves."""
        return values

    def values(self, free: Tensor) -> Tensor:
        """The values themselves."""
        return free


Ranges = dict[str, Range | Normal]


@dataclass(frozen=True)
class Family:
    """A prior: how it is drawn, and the structure that stands for it.

    Args:
        structure: Text of the candidate.
        ranges: Of each hyperparameter, in units of the cube.
        covariance: From ``n x 3`` inputs and hyperparameters to ``n x n``, of unit
            variance.
    """

    structure: str
    ranges: Ranges
    covariance: Covariance

    def draw_values(self, source: torch.Generator) -> Values:
        """Hyperparameters of one truth."""
        return {name: r.draw(source) for name, r in self.ranges.items()}


@dataclass(frozen=True)
class Truth:
    """One data set and what made it."""

    sample: Sample
    values: Values
    noise: float


def _matern(X: Tensor, values: Values) -> Tensor:
    Z = X / values["lengthscale"]
    return plain(matern52(1.0), Z, Z)


def _smooth_and_periodic(X: Tensor, values: Values) -> Tensor:
    Z = X / values["lengthscale"]
    smooth = plain(squared_exponential(1.0), Z, Z)
    time = X[:, :1]
    turn = math.pi * (time - time.T) / values["period"]
    periodic = torch.exp(-2.0 * (turn.sin() / values["periodic_lengthscale"]) ** 2)
    return _weighted([smooth, periodic], values["weight"])


def _columns(X: Tensor, values: Values) -> Tensor:
    profile = matern52(1.0)
    parts = [
        profile(squared_distance(x, x))
        for x in (X / values["lengthscale"]).split(1, dim=-1)
    ]
    return _weighted(parts, values["weight"])


def _warped(X: Tensor, values: Values) -> Tensor:
    log = torch.log1p(-(X ** values["a"]))
    return _matern(-torch.expm1(values["b"] * log), values)


def _bent(X: Tensor, values: Values) -> Tensor:
    """Two layers: the identity bent by whitened hyperdata, what is left integrated."""
    Z = spread_places(PLACES, range(DIM), DIM)
    profile, ell = squared_exponential(1.0), values["hidden_lengthscale"]
    L, _ = cholesky(plain(profile, Z / ell, Z / ell))
    A = torch.linalg.solve_triangular(L, plain(profile, Z / ell, X / ell), upper=False)
    A, scale = A.T, values["hidden_scale"]
    latent = X / values["lengthscale"] + scale * A @ values["hidden"].reshape(-1, DIM)
    lost = 2.0 * (1.0 - plain(profile, X / ell, X / ell)) - squared_distance(A, A)
    variance = scale**2 * lost.clamp_min(0.0)
    gap = squared_distance(latent, latent)
    return torch.exp(-0.5 * gap / (1.0 + variance)) * (1.0 + variance) ** (-DIM / 2)


def _invariant(group: Group) -> Covariance:
    orbit = Orbit(group.resolve([f"x{j}" for j in range(DIM)]), DIM)

    def covariance(X: Tensor, values: Values) -> Tensor:
        # Permutations commute with a scale that all columns share.
        Z = X / values["lengthscale"]
        return invariant(matern52(1.0), Z, Z, orbit, normalised=True)

    return covariance


def _weighted(parts: list[Tensor], weight: Tensor) -> Tensor:
    share = weight / weight.sum()
    return torch.stack([w * k for w, k in zip(share, parts, strict=True)]).sum(0)


FAMILIES = {
    "matern": Family("Matern(2.5)", {"lengthscale": Range(DIM, 0.25, 0.75)}, _matern),
    "periodic": Family(
        "RBF() + Periodic(columns=[0])",
        {
            "lengthscale": Range(DIM, 0.3, 0.9),
            "period": Range(1, 0.2, 0.5),
            "periodic_lengthscale": Range(1, 0.5, 1.0),
            "weight": Range(2, 0.7, 1.4),
        },
        _smooth_and_periodic,
    ),
    "columns": Family(
        " + ".join(f"Matern(2.5, columns=[{j}])" for j in range(DIM)),
        {"lengthscale": Range(DIM, 0.15, 0.6), "weight": Range(DIM, 0.5, 2.0)},
        _columns,
    ),
    "warp": Family(
        "Kumaraswamy(Matern(2.5))",
        {
            "lengthscale": Range(DIM, 0.25, 0.75),
            "a": Range(DIM, 2.0, 4.0, inverted=True),
            "b": Range(DIM, 2.0, 4.0, inverted=True),
        },
        _warped,
    ),
    "bend": Family(
        f"ConditionalDeep(hyperdata={PLACES})",
        {
            "lengthscale": Range(DIM, 0.5, 1.5),
            "hidden_lengthscale": Range(DIM, 1.0, 2.0),
            "hidden_scale": Range(1, 2.0, 4.0),
            "hidden": Normal(PLACES * DIM),
        },
        _bent,
    ),
    "S3": Family(
        "Invariant(Matern(2.5), permutations(3))",
        {"lengthscale": Range(1, 0.2, 0.6)},
        _invariant(permutations(DIM)),
    ),
    "C3": Family(
        "Invariant(Matern(2.5), cyclic(3))",
        {"lengthscale": Range(1, 0.2, 0.6)},
        _invariant(cyclic(DIM)),
    ),
}
"""Truths and candidates by name. The periodic part lies along the first column, the
smooth part over all three."""


def draw_truth(family: str, n: int, seed: int) -> Truth:
    """A data set of ``n`` uniform random points; its first points are those of less.

    Hyperparameters depend on family and seed, not on ``n``.
    """
    chosen = FAMILIES[family]
    source = generator("identify", family, seed)
    values = chosen.draw_values(source)
    noise = float(Range(1, *NOISE).draw(source))
    X = torch.rand(n, DIM, dtype=torch.float64, generator=source)
    L, _ = cholesky(chosen.covariance(X, values))
    source = generator("identify", family, seed, n)
    normal = torch.randn(2, n, dtype=torch.float64, generator=source)
    f = L @ normal[0]
    return Truth(Sample(X=X, y=f + noise * normal[1], f=f), values, noise)
