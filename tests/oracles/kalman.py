"""A textbook Kalman filter, one observation after the other, and exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath
import numpy as np
from scipy.linalg import block_diag, expm, solve_continuous_lyapunov

Part = tuple[float, float, float]
"""ν, lengthscale and variance of a Matérn kernel."""


def stochastic_equation(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Drift F and stationary covariance of (f, f', …) of a Matérn process."""
    nu, lengthscale, variance = part
    size = round(nu + 0.5)
    rate = math.sqrt(2.0 * nu) / lengthscale
    drift = np.diag(np.ones(size - 1), 1)
    drift[-1] = [-math.comb(size, k) * rate ** (size - k) for k in range(size)]
    noise = np.zeros((size, size))
    noise[-1, -1] = 1.0
    unit = solve_continuous_lyapunov(drift, -noise)
    return drift, unit * variance / unit[0, 0]


def filtered_log_density(
    t: np.ndarray, y: np.ndarray, noise: np.ndarray, parts: Sequence[Part]
) -> float:
    """Log density of a noisy sum of Matérn processes, by innovations."""
    equations = [stochastic_equation(part) for part in parts]
    drift = block_diag(*(d for d, _ in equations))
    stationary = block_diag(*(p for _, p in equations))
    read = np.concatenate([np.eye(len(d))[0] for d, _ in equations])
    order = np.argsort(t, kind="stable")
    m, P, total, last = np.zeros(len(read)), stationary, 0.0, t[order[0]]
    for i in order:
        A = expm(drift * (t[i] - last))
        m = A @ m
        P = A @ P @ A.T + stationary - A @ stationary @ A.T
        innovation, S = y[i] - read @ m, read @ P @ read + noise[i]
        total -= 0.5 * (innovation**2 / S + math.log(2.0 * math.pi * S))
        gain = P @ read / S
        m, P = m + gain * innovation, P - np.outer(gain, gain) * S
        last = t[i]
    return float(total)


def precise_log_density(
    t: Sequence[float],
    y: Sequence[float],
    noise: float,
    parts: Sequence[Part],
    digits: int = 60,
) -> float:
    """The same from a dense covariance, in arithmetic of many digits."""
    with mpmath.workdps(digits):
        n = len(t)
        K = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                gap = abs(mpmath.mpf(t[i]) - mpmath.mpf(t[j]))
                K[i, j] = sum(_matern(gap, part) for part in parts)
            K[i, i] += mpmath.mpf(noise)
        L = mpmath.cholesky(K)
        white = mpmath.lu_solve(L, mpmath.matrix(list(map(mpmath.mpf, y))))
        log_det = 2 * sum(mpmath.log(L[i, i]) for i in range(n))
        quadratic = sum(w * w for w in white)
        return float(-(quadratic + log_det + n * mpmath.log(2 * mpmath.pi)) / 2)


def _matern(gap: mpmath.mpf, part: Part) -> mpmath.mpf:
    nu, lengthscale, variance = part
    r = mpmath.sqrt(mpmath.mpf(2 * nu)) * gap / mpmath.mpf(lengthscale)
    polynomial = {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[nu]
    return mpmath.mpf(variance) * polynomial * mpmath.exp(-r)
