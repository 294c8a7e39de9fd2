r"""The path of densities from the prior to the posterior, and steps along it."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from bokern.fitting import LogPosterior
from bokern.numerics import LOG_2PI

EVALUATED_ENTRIES = 2**17
"""Kernel evaluations at a time: what a processor's cache holds is three times as fast
as what it does not."""

SAMPLE_SIZE = 0.5
"""Share of the states that each step in β leaves effective."""

BISECTIONS = 60

WIDENED = 2.0
"""Standard deviations of q are so many times those that are matched to a prior that
is not Gaussian, so that it is wider than the prior."""

GAUSSIAN_DROP = 1e-6
"""Nats by which a log density may differ from a parabola and count as Gaussian."""


class Path:
    r"""The densities $q^{1-\beta} (p L)^\beta$ from a Gaussian q to the posterior.

    Args:
        objective: The log likelihood and log prior.
    """

    def __init__(self, objective: LogPosterior) -> None:
        self._objective = objective
        self.mean, self.sd = _wide_enough(objective)
        self.evaluations = 0
        self.best = self.mean
        self.highest = -math.inf
        self._chunk = max(1, EVALUATED_ENTRIES // objective.entries)

    def log_start(self, theta: Tensor) -> Tensor:
        """``log q``, ``...`` for θ of ``... x k``."""
        square = ((theta - self.mean) / self.sd).square()
        return -0.5 * (square + 2.0 * self.sd.log() + LOG_2PI).sum(-1)

    def energy(self, theta: Tensor) -> Tensor:
        """``log (p L / q)``, the power of which is the weight; −inf where L fails."""
        flat = theta.flatten(0, -2)
        self.evaluations += len(flat)
        # Kept in a list, the small results would lie between the large matrices and
        # hold gigabytes that are free.
        likelihood = flat.new_empty(len(flat))
        parts = zip(flat.split(self._chunk), likelihood.split(self._chunk), strict=True)
        for part, result in parts:
            result.copy_(self._objective.log_likelihood(part))
        value = likelihood + self._objective.log_prior(flat)
        value = torch.where(torch.isfinite(value), value, -torch.inf)
        top = int(value.argmax())
        if value[top].item() > self.highest:
            self.best, self.highest = flat[top], value[top].item()
        return (value - self.log_start(flat)).reshape(theta.shape[:-1])


def _wide_enough(objective: LogPosterior) -> tuple[Tensor, Tensor]:
    """Moments of q: the prior's own, wider in coordinates that are not Gaussian."""
    mean, sd = objective.prior_moments()
    distance = torch.diag(2.0 * sd)
    ends = torch.stack([mean + distance, mean - distance])
    drop = objective.log_prior(mean) - objective.log_prior(ends)
    gaussian = ((drop - 2.0).abs() < GAUSSIAN_DROP).all(0)
    return mean, torch.where(gaussian, sd, WIDENED * sd)


def next_beta(beta: Tensor, energy: Tensor) -> Tensor:
    """The largest β up to 1 that leaves ``SAMPLE_SIZE`` of the states effective.

    Args:
        beta: At present, ``r``.
        energy: Of the states, ``r x s``; −inf ones are not counted.
    """
    goal = SAMPLE_SIZE * torch.isfinite(energy).sum(-1)
    low, high = torch.zeros_like(beta), 1.0 - beta
    reached = effective_size(high, energy) >= goal
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        enough = effective_size(middle, energy) >= goal
        low = torch.where(enough, middle, low)
        high = torch.where(enough, high, middle)
    return torch.where(reached, torch.ones_like(beta), beta + high)


def effective_size(step: Tensor, energy: Tensor) -> Tensor:
    """``(Σ w)² / Σ w²`` of the weights ``exp(step · energy)``, ``r``."""
    log_weights = powers(step, energy)
    return torch.exp(
        2.0 * log_weights.logsumexp(-1) - (2.0 * log_weights).logsumexp(-1)
    )


def powers(step: Tensor, energy: Tensor) -> Tensor:
    """``step · energy``, −inf where the energy is, even for a step of 0."""
    product = step.unsqueeze(-1) * energy
    return torch.where(torch.isfinite(energy), product, -torch.inf)


def systematic(weights: Tensor, count: int, uniform: Tensor) -> Tensor:
    """Indices drawn in proportion to weights, with the least variance.

    Args:
        weights: ``r x s``, rows that sum to 1.
        count: How many to draw.
        uniform: One number in [0, 1) for each row, ``r x 1``.

    Returns:
        ``r x count``; each index floor or ceil of ``count · weight`` times.
    """
    ticks = torch.arange(count, dtype=weights.dtype, device=weights.device)
    cumulative = weights.cumsum(-1)
    points = (uniform + ticks) / count * cumulative[..., -1:]
    last = weights.shape[-1] - 1
    return torch.searchsorted(cumulative, points, right=True).clamp_max(last)
