"""Weights as numbers of equal slots."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_SLOTS = 32
WEIGHT_TOLERANCE = 1.0 / 32.0
"""BoTorch averages ensembles without weights: each member fills a number of equal
slots, so that its share is within this of its weight; smaller members drop out."""

MOST_DRAWS = MAX_SLOTS - 1
"""Of hyperparameters: more have weights within the tolerance of none."""


def allocate_slots(weights: Tensor) -> Tensor:
    """Members of equal slots, such that shares are close to the weights.

    Args:
        weights: ``... x members``, summing to one.

    Returns:
        ``... x slots`` numbers of members: the fewest slots, up to ``MAX_SLOTS``, that
        keep every share within ``WEIGHT_TOLERANCE`` of its weight.
    """
    for size in range(1, MAX_SLOTS + 1):
        counts = _largest_remainder(weights, size)
        off = (counts / size - weights).abs().max()
        if off <= WEIGHT_TOLERANCE or size == MAX_SLOTS:
            break
    edges = counts.cumsum(-1)
    numbers = torch.arange(size, device=weights.device) + 0.5
    return (numbers.unsqueeze(-1) > edges.unsqueeze(-2)).sum(-1)


def _largest_remainder(weights: Tensor, size: int) -> Tensor:
    quota = weights * size
    floor = torch.floor(quota + 1e-9)
    left = size - floor.sum(-1, keepdim=True)
    rank = (quota - floor).argsort(-1, descending=True).argsort(-1)
    return floor + (rank < left)
