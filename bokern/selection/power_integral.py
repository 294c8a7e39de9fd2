"""The evidence of a Yeo–Johnson transform, its power integrated out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import Akima1DInterpolator
from scipy.special import logsumexp

from bokern.models.outcome_power import POWER_STEP, log_prior
from bokern.models.yeo_johnson import MAX_POWER, MIN_POWER

NO_POWER = 1.0
"""The identity, up to location and scale."""

COARSE = (0.5, 0.0, 1.5, 2.0)
REFINED = 3
"""Powers tried first, and how many are added where the posterior of λ turns out to be:
within .02 nats of a grid of 41 on 20 data sets, the best power within .02."""

SMOOTH_FROM = 3
"""Powers that Akima's interpolation needs."""


@dataclass(frozen=True)
class PowerIntegral:
    r"""What quadrature over λ gave.

    Args:
        log_evidence: $\log \int p(\lambda) Z(\lambda) d\lambda$, nats.
        power: The most probable λ.
    """

    log_evidence: float
    power: float


def integrate_power(
    log_evidence: Callable[[float], float | None], identity: float
) -> PowerIntegral:
    r"""Integrates the power out, under its prior.

    $$\log \int_0^2 p(\lambda) \, Z(\lambda) \, d\lambda$$

    Each further λ is where the posterior density, times the distance from the known
    ones, is largest; between them $\log Z$ is interpolated.

    Args:
        log_evidence: ``log Z`` at a power; None where there is none.
        identity: ``log Z(1)``.
    """
    known = {NO_POWER: identity}
    for power in COARSE:
        _add(known, power, log_evidence)
    grid = np.linspace(MIN_POWER, MAX_POWER, round(MAX_POWER / POWER_STEP) + 1)
    prior = np.array([log_prior(power) for power in grid])
    for _ in range(REFINED):
        density = _interpolated(known, grid) + prior
        away = np.abs(grid[:, None] - np.array(list(known))).min(-1)
        score = np.exp(density - density.max()) * away
        _add(known, round(float(grid[score.argmax()]), 6), log_evidence)
    density = _interpolated(known, grid) + prior
    total = _log_trapezoid(density) - _log_trapezoid(prior)
    return PowerIntegral(total, round(float(grid[density.argmax()]), 6))


def _add(
    known: dict[float, float],
    power: float,
    log_evidence: Callable[[float], float | None],
) -> None:
    value = log_evidence(power)
    if value is not None:
        known[power] = value


def _interpolated(
    known: dict[float, float], grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``log Z`` on the grid; −inf beyond the outermost powers that could be fitted."""
    at = np.array(sorted(known))
    values = np.array([known[power] for power in at])
    if len(at) < SMOOTH_FROM:
        return np.interp(grid, at, values, left=-np.inf, right=-np.inf)
    between = Akima1DInterpolator(at, values)(grid)
    return np.nan_to_num(between, nan=-np.inf)


def _log_trapezoid(density: NDArray[np.float64]) -> float:
    weights = np.zeros_like(density)
    weights[[0, -1]] = np.log(0.5)
    return float(logsumexp(density + weights))
