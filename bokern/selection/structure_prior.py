"""What is believed of structures before the data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import torch

from bokern.structures import Structure

NODE_PENALTY = 1.0
"""Nats that each further node of a structure costs within its family."""


def structure_log_prior(structures: Sequence[Structure]) -> list[float]:
    r"""Log prior probabilities, in nats.

    Each family present has the same mass, so that listing more variants of one does
    not make it more probable; within it the mass is ∝ exp(−λ · nodes).

    Args:
        structures: The candidates, distinct.
    """
    penalties = [-NODE_PENALTY * sum(1 for _ in s.nodes()) for s in structures]
    families: defaultdict[str, list[int]] = defaultdict(list)
    for i, structure in enumerate(structures):
        families[structure.family].append(i)
    result = [0.0] * len(structures)
    for members in families.values():
        own = torch.tensor([penalties[i] for i in members], dtype=torch.float64)
        share = torch.log_softmax(own, 0) - torch.tensor(float(len(families))).log()
        for i, value in zip(members, share.tolist(), strict=True):
            result[i] = value
    return result
