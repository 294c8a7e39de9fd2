"""How many evaluations a method takes until its run is solved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.optimise.table import REFERENCE, Pair, evaluations, paired
from benchmarks.tasks import Record


@dataclass(frozen=True)
class Until:
    """What a table says of one method on one objective whose runs end when solved."""

    objective: str
    method: str
    seeds: int
    crashes: int
    solved: float
    median: float
    lower: float
    upper: float
    fewer: float


def until_rows(records: list[Record]) -> list[Until]:
    """One row for each method that ran an objective whose runs end when solved."""
    ending = [r for r in records if r.get("ends_when_solved")]
    pairs = dict.fromkeys((r["objective"], r["method"]) for r in ending)
    return [_row(ending, *pair) for pair in pairs]


def fewer(pairs: list[Pair]) -> float:
    """How many times fewer evaluations the second of each pair takes than the first.

    Geometric mean over pairs; a run that was not solved counts as its budget.
    """
    if not pairs:
        return math.nan
    logs = [math.log(evaluations(a) / evaluations(b)) for a, b in pairs]
    return math.exp(sum(logs) / len(logs))


def _row(ending: list[Record], objective: str, method: str) -> Until:
    runs = [r for r in ending if (r["objective"], r["method"]) == (objective, method)]
    counts = [evaluations(r) for r in runs]
    lower, median, upper = np.quantile(counts, [0.25, 0.5, 0.75]).tolist()
    return Until(
        objective=objective,
        method=method,
        seeds=len(runs),
        crashes=sum(r["error"] is not None for r in runs),
        solved=float(np.mean([_is_solved(r) for r in runs])),
        median=median,
        lower=lower,
        upper=upper,
        fewer=fewer(paired(ending, objective, REFERENCE, method)),
    )


def _is_solved(record: Record) -> bool:
    best = min(record["values"], default=math.inf)
    return bool(best - record["optimum"] < record["threshold"])
