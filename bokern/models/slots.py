"""Weights as numbers of equal slots."""

from __future__ import annotations

import torch
from torch import Tensor

MAX_SLOTS = 32
WEIGHT_TOLERANCE = 1.0 / 32.0
"""BoTorch averages ensembles without weights: each member fills a number of equal
slots, so that its share is within this of its weight; smaller members drop out."""


def allocate_slots(weights: Tensor, least: int = 1) -> Tensor:
    """Members of equal slots, such that shares are close to the weights.

    Args:
        weights: ``... x members``, summing to one.
        least: Slots to try first.

    Returns:
        ``... x slots`` numbers of members: the fewest slots, up to ``MAX_SLOTS``, that
        keep every share within ``WEIGHT_TOLERANCE`` of its weight.
    """
    for size in range(least, MAX_SLOTS + 1):
        counts = counts_of(weights, size)
        off = (counts / size - weights).abs().max()
        if off <= WEIGHT_TOLERANCE or size == MAX_SLOTS:
            break
    edges = counts.cumsum(-1)
    numbers = torch.arange(size, device=weights.device) + 0.5
    return (numbers.unsqueeze(-1) > edges.unsqueeze(-2)).sum(-1)


def counts_of(weights: Tensor, size: int) -> Tensor:
    """Whole numbers that add up to ``size``, by the largest remainders."""
    quota = weights * size
    floor = torch.floor(quota + 1e-9)
    left = size - floor.sum(-1, keepdim=True)
    rank = (quota - floor).argsort(-1, descending=True).argsort(-1)
    return floor + (rank < left)
