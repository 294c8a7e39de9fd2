"""Which periods a series shows."""

from __future__ import annotations

import math

import torch
from torch import Tensor

SPACING = 0.25
"""Between frequencies, in cycles over the range of the inputs: a period fits from end
to end only within about that."""

HARMONICS = 3
"""A frequency is as likely as its first harmonics together: one of a sharp wave stands
out of the noise where the wave's own does not."""


def likely_periods(x: Tensor, z: Tensor, count: int) -> Tensor:
    r"""Quantiles of a distribution of periods, as likely as the data show them.

    Successive differences over the root of their distance, which are white if z is a
    random walk, hide neither under a trend nor under noise what repeats. The density
    of a frequency f, from 1 to half the number of distinct inputs, is

    $$\sum_{h \le H} P(h f)^2, \qquad
    P(f) = \Big|\sum_i d_i \, e^{2 \pi i f t_i}\Big|^2$$

    for differences d at times t.

    Args:
        x: ``n``, in units of the box, in any order.
        z: ``n``.
        count: How many quantiles.

    Returns:
        ``count`` periods in units of the box, short ones last; none of fewer than four
        distinct inputs, or of a straight line.
    """
    order = x.argsort(stable=True)
    x, z = x[order], z[order]
    gaps = x.diff()
    apart = gaps > 0
    gaps = gaps[apart]
    if len(gaps) < 3:
        return x.new_empty(0)
    times = (0.5 * (x[1:] + x[:-1]))[apart]
    differences = z.diff()[apart] / gaps.sqrt()
    differences = differences - differences.mean()
    if not bool(differences.any()):
        return x.new_empty(0)
    steps = int((0.5 * len(gaps) - 1.0) / SPACING) + 1
    frequencies = 1.0 + SPACING * torch.arange(steps).to(x)
    power = x.new_zeros(steps)
    for harmonic in range(1, HARMONICS + 1):
        seen = harmonic * frequencies
        phase = 2.0 * math.pi * seen[seen <= frequencies[-1]].unsqueeze(-1) * times
        squared = (phase.cos() @ differences).square()
        squared = squared + (phase.sin() @ differences).square()
        power[: len(squared)] += squared.square()
    share = power.cumsum(0) / power.sum()
    levels = (torch.arange(count).to(x) + 0.5) / count
    chosen = torch.searchsorted(share, levels).clamp_max(steps - 1)
    return frequencies[chosen].reciprocal()
