"""Kernels as loops over pairs of points, in plain floats."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.special import gamma, kv
from scipy.stats import gamma as gamma_law


def matrix(function, x1, x2):
    """The covariance matrix of a function of two lists of floats."""
    rows = [[function(a, b) for b in x2.tolist()] for a in x1.tolist()]
    return torch.tensor(rows, dtype=torch.float64)


def scaled_square(a, b, lengthscales):
    total = 0.0
    for p, q, scale in zip(a, b, lengthscales, strict=True):
        total += ((p - q) / scale) ** 2
    return total


def rbf(lengthscales):
    return lambda a, b: math.exp(-scaled_square(a, b, lengthscales) / 2.0)


def matern(nu, lengthscales):
    """[GPML] eq. 4.14, by the Bessel function for every ν."""

    def k(a, b):
        r = math.sqrt(2.0 * nu * scaled_square(a, b, lengthscales))
        return 1.0 if r == 0.0 else 2.0 ** (1 - nu) / gamma(nu) * r**nu * kv(nu, r)

    return k


def rational_quadratic(alpha, lengthscales):
    """[GPML] eq. 4.20: squared exponentials over a gamma law of precisions."""
    step = 0.02
    precision = np.exp(np.arange(-100.0, 6.0, step))
    law = gamma_law(alpha, scale=1.0 / alpha)
    weight = step * precision * law.pdf(precision)

    def k(a, b):
        square = scaled_square(a, b, lengthscales)
        return float(weight @ np.exp(-precision * square / 2.0))

    return k


def periodic(periods, lengthscales):
    """[GPML] eq. 4.31, as an RBF on the circle of each column."""

    def k(a, b):
        total = 0.0
        for p, q, period, scale in zip(a, b, periods, lengthscales, strict=True):
            u, v = 2 * math.pi * p / period, 2 * math.pi * q / period
            chord = (math.cos(u) - math.cos(v)) ** 2 + (math.sin(u) - math.sin(v)) ** 2
            total += chord / scale**2
        return math.exp(-total / 2.0)

    return k


def linear(offsets):
    def k(a, b):
        total = 0.0
        for p, q, c in zip(a, b, offsets, strict=True):
            total += (p - c) * (q - c)
        return total

    return k


def change_point(before, after, location, width, column=0):
    """[ABCD] section 2.2, with a logistic function for the sigmoid."""

    def weight(a):
        return 1.0 / (1.0 + math.exp(-(a[column] - location) / width))

    def k(a, b):
        p, q = weight(a), weight(b)
        return (1 - p) * before(a, b) * (1 - q) + p * after(a, b) * q

    return k


def deep_by_draws(correlation, latent_scale, width, draws=200_000, seed=0):
    """Mean and standard error of exp(−|f(x) − f(x')|²/2) over the two-point law of f.

    Each of ``width`` latents has variance ``latent_scale**2`` and this correlation.
    """
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky([[1.0, correlation], [correlation, 1.0]])
    square = np.zeros(draws)
    for _ in range(width):
        pair = latent_scale * root @ rng.standard_normal((2, draws))
        square += (pair[0] - pair[1]) ** 2
    values = np.exp(-square / 2.0)
    return values.mean(), values.std() / math.sqrt(draws)
