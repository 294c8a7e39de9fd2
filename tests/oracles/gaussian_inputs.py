"""Expectations over Gaussian inputs of two columns, by a product rule."""

from __future__ import annotations

import itertools

import numpy as np
import torch

DIM = 2


def uncertain(n=4, seed=0):
    """Means and variances of points, one of them certain."""
    generator = torch.Generator().manual_seed(seed)
    kind = {"generator": generator, "dtype": torch.float64}
    mean, variance = torch.randn(n, DIM, **kind), torch.rand(n, DIM, **kind)
    variance[0] = 0.0
    return mean, variance


def integrated(function, mean, variance, nodes=48):
    """Expectation of a function of ``n x d`` points, by a product rule."""
    roots, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    total = 0.0
    for index in itertools.product(range(nodes), repeat=DIM):
        step = torch.tensor([roots[i] for i in index], dtype=torch.float64)
        weight = float(np.prod([weights[i] for i in index]))
        total = total + weight * function(mean + variance.sqrt() * step)
    return total
