"""Steps of an optimiser whose rate decays, as in GPyTorch's variational examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks.uci.clock import Clock

MILESTONES, GAMMA = (0.5, 0.75), 0.1
"""At these shares of the training the rate falls to this part of itself."""


def descend(
    loss: Callable[[], Tensor],
    optimizer: torch.optim.Optimizer,
    steps: int,
    clock: Clock,
) -> int:
    """Minimises a loss until the steps or the time are used up.

    The rate decays with the steps or the time, whichever is further on, so that a fit
    that the limit ends has decayed too.

    Returns:
        How many steps were made.
    """
    rates = [group["lr"] for group in optimizer.param_groups]
    for step in range(steps):
        progress = max(step / steps, clock.share)
        if progress >= 1.0:
            return step
        factor = GAMMA ** sum(progress >= milestone for milestone in MILESTONES)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    return steps


def minibatches(
    X: Tensor, y: Tensor, size: int, seed: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows in random order, epoch after epoch, without end."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        for rows in torch.randperm(len(y), generator=generator).split(size):
            yield X[rows], y[rows]
