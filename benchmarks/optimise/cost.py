"""CPU seconds per iteration at a number of observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.tasks import Record

OBSERVATIONS = 50
WINDOW = 10
"""Iterations on either side: structures are searched for once in several."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds per iteration about `OBSERVATIONS` observations.

    Args:
        runs: How many runs came so far.
        seeds: How many seeds they have.
        median: Over runs, of the mean over iterations; so searches are in it.
        maximum: Of one iteration.
    """

    runs: int
    seeds: int
    median: float
    maximum: float


def cost(records: list[Record]) -> Cost | None:
    """Of runs with `OBSERVATIONS` evaluations or more; None if there is none."""
    first = OBSERVATIONS - WINDOW
    windows, seeds = [], set()
    for record in records:
        seconds = record["cpu_seconds"]
        if len(seconds) >= OBSERVATIONS:
            windows.append(seconds[first : OBSERVATIONS + WINDOW])
            seeds.add(record["seed"])
    if not windows:
        return None
    return Cost(
        runs=len(windows),
        seeds=len(seeds),
        median=float(np.median([np.mean(window) for window in windows])),
        maximum=max(map(max, windows)),
    )
