"""Groups as functions on lists, and sums over them as loops."""

from __future__ import annotations

import torch


def act(element, point):
    """The image of a list of floats under a signed permutation of columns."""
    index, flips = element
    image = [point[source] for source in index]
    return [1.0 - u if flip else u for u, flip in zip(image, flips, strict=True)]


def mean_over_group(k, elements):
    """The kernel of a function averaged over a group: P² evaluations a pair."""

    def averaged(a, b):
        total = 0.0
        for g in elements:
            for h in elements:
                total += k(act(g, a), act(h, b))
        return total / len(elements) ** 2

    return averaged


def correlation(k):
    return lambda a, b: k(a, b) / (k(a, a) * k(b, b)) ** 0.5


def added(functions):
    return lambda a, b: sum(k(a, b) for k in functions)


def scaled(k, scale):
    return lambda a, b: scale * k(a, b)


def at_points(kernel):
    """One of our kernels as a function of two lists of floats."""

    def k(a, b):
        x, y = (torch.tensor([p], dtype=torch.float64) for p in (a, b))
        with torch.no_grad():
            return kernel.forward(x, y).item()

    return k
