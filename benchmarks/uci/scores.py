"""Scores of records, and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from benchmarks.tasks import Record


def has_scores(record: Record) -> bool:
    """Whether a run neither failed nor was skipped."""
    return not record["error"] and not record.get("skipped")


def runs_of(records: Sequence[Record], data: str, method: str) -> list[Record]:
    """All runs of a method on a data set."""
    return [r for r in records if (r["data"], r["method"]) == (data, method)]


def mean_of(records: Sequence[Record], data: str, method: str, what: str) -> float:
    """Mean over the seeds; infinite if one of them failed or was skipped."""
    runs = runs_of(records, data, method)
    if not runs or not all(map(has_scores, runs)):
        return math.inf
    return float(np.mean([run[what] for run in runs]))


def mean_ranks(
    records: Sequence[Record], data: Sequence[str], methods: Sequence[str], what: str
) -> dict[str, float]:
    """Mean rank of each method over data sets, 1 the best.

    Equal scores share a rank; methods without one share the last.
    """
    ranks = [
        rankdata([mean_of(records, name, method, what) for method in methods])
        for name in data
    ]
    return dict(zip(methods, np.mean(ranks, axis=0).tolist(), strict=True))
