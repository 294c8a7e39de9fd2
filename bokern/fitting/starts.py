"""Where to start: many draws scored once in a batch, the best distinct ones kept."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from bokern.fitting.hints import likely_values
from bokern.fitting.log_posterior import LogPosterior

LOG_LOW, LOG_HIGH = math.log(0.01), math.log(3.0)
"""Range of the log-uniform draws of positive values, in scaled units."""

DRAWS = 512
"""Scrambled Sobol draws: on log-airline they find a lengthscale of .03 in 39 of 40
seeds, as many pseudo-random ones in 3 of 4."""

SCREEN_ROWS = 300
"""Draws are scored on at most this many observations."""

SCREEN_WORK, SCREEN_LEAST = 400_000, 20
"""Evaluations of a kernel's innermost part for one draw at most, and observations at
least: of sums over 720 elements 23 observations, of sums over 24 129."""

SCREEN_ELEMENTS = 2**21
"""Evaluations of a kernel's innermost part at a time."""

DISTINCT = 1.5
"""Distance in θ, in nats of log value, below which two starts count as one."""


def draw_starts(objective: LogPosterior, generator: torch.Generator) -> Tensor:
    """Candidate starts, ``DRAWS x k``: half log-uniform, half from the prior.

    Coordinates that are no logarithm always come from the prior; of those for which the
    data suggest values, every other quarter does from these. The last start is the
    prior's centre.
    """
    mean, sd = objective.prior_moments()
    seed = int(torch.randint(2**31, (), generator=generator))
    engine = torch.quasirandom.SobolEngine(objective.dim, scramble=True, seed=seed)
    uniform = engine.draw(DRAWS, dtype=torch.float64).to(mean).clamp(1e-6, 1 - 1e-6)
    draws = mean + sd * torch.special.ndtri(uniform)
    half = DRAWS // 2
    log_uniform = LOG_LOW + (LOG_HIGH - LOG_LOW) * uniform[:half]
    draws[:half] = torch.where(objective.is_log(), log_uniform, draws[:half])
    for number, values in likely_values(objective).items():
        likely = values[(uniform[:, number] * len(values)).long()].to(draws)
        for first in (0, half):
            rows = slice(first, first + half // 2)
            draws[rows, number] = likely[rows]
    draws[-1] = mean
    return draws


def on_some_rows(
    objective: LogPosterior, generator: torch.Generator, most: int = SCREEN_ROWS
) -> LogPosterior:
    """An objective on few observations, drawn at random, to score draws by.

    Args:
        objective: Without batch dimensions.
        generator: Of the rows.
        most: Observations at most; fewer if the kernel is a sum over many views.
    """
    n = objective.num_data
    affordable = n * math.sqrt(min(1.0, SCREEN_WORK / objective.work))
    rows = min(most, max(SCREEN_LEAST, int(affordable)))
    if n <= rows:
        return objective
    drawn = torch.randperm(n, generator=generator)[:rows]
    return objective.on_rows(drawn.to(objective.z.device))


def screen_starts(
    objective: LogPosterior, candidates: Tensor, keep: int
) -> tuple[Tensor, Tensor]:
    """The best distinct candidates of one data set.

    Args:
        objective: Of the data set, without batch dimensions.
        candidates: ``N x k``.
        keep: How many to keep.

    Returns:
        ``keep x k`` starts, best first, and their values.
    """
    step = max(1, SCREEN_ELEMENTS // objective.work)
    with torch.no_grad():
        values = torch.cat([objective(c) for c in candidates.split(step)])
    order = torch.argsort(values.nan_to_num(-torch.inf), descending=True)
    kept: list[int] = []
    for i in order.tolist():
        if len(kept) == keep or not torch.isfinite(values[i]):
            break
        gap = torch.cdist(candidates[i : i + 1], candidates[kept]) if kept else None
        if gap is None or gap.min() > DISTINCT:
            kept.append(i)
    for i in order.tolist():
        if len(kept) == keep:
            break
        if i not in kept:
            kept.append(i)
    return candidates[kept], values[kept]
