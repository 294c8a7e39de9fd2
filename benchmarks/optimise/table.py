"""From records to numbers: regret, shares solved, ratios, paired tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.tasks import Record

Pair = tuple[Record, Record]

REFERENCE = "ax"
FLOOR = 0.01
"""Ratios treat regrets below this share of the threshold as equal to it."""


def simple_regret(record: Record) -> np.ndarray:
    """Least regret after each evaluation; a crash counts as its last regret."""
    values = record["values"] or [math.inf]
    best = np.minimum.accumulate(values) - record["optimum"]
    padded = np.full(record["budget"], best[-1])
    padded[: len(best)] = best
    return np.maximum(padded, 0.0)


def evaluations(record: Record) -> int:
    """Evaluations until a run was solved; the budget if it never was."""
    below = np.array(record["values"]) - record["optimum"] < record["threshold"]
    return int(below.argmax()) + 1 if below.any() else int(record["budget"])


def cumulative_regret(record: Record) -> float:
    """Sum of all regrets; evaluations that a crash prevented count as the mean."""
    values = np.array(record["values"])
    if not len(values):
        return math.inf
    return float((values - record["optimum"]).mean() * record["budget"])


@dataclass(frozen=True)
class Row:
    """What a table says of one method on one objective."""

    objective: str
    method: str
    seeds: int
    crashes: int
    median: float
    lower: float
    upper: float
    solved: float
    cumulative: float
    ratio: float
    p_value: float
    cpu_median: float
    cpu_maximum: float


def rows(records: list[Record]) -> list[Row]:
    """One row for each objective and method, over the seeds that all methods have.

    Without objectives whose runs end when they are solved.
    """
    records = [r for r in records if not r.get("ends_when_solved")]
    by_run = {(r["objective"], r["method"], r["seed"]): r for r in records}
    objectives = dict.fromkeys(r["objective"] for r in records)
    return [row for o in objectives for row in _of_objective(o, by_run)]


def _of_objective(
    objective: str, by_run: dict[tuple[str, str, int], Record]
) -> list[Row]:
    methods = dict.fromkeys(m for o, m, _ in by_run if o == objective)
    seeds = {m: {s for o, n, s in by_run if (o, n) == (objective, m)} for m in methods}
    shared = sorted(set.intersection(*seeds.values()))
    chosen = {m: [by_run[objective, m, s] for s in shared] for m in methods}
    reference = chosen.get(REFERENCE)
    return [
        _row(objective, method, runs, reference)
        for method, runs in chosen.items()
        if runs
    ]


def _row(
    objective: str, method: str, runs: list[Record], reference: list[Record] | None
) -> Row:
    final = np.array([simple_regret(r)[-1] for r in runs])
    threshold = np.array([r["threshold"] for r in runs])
    lower, median, upper = np.quantile(final, [0.25, 0.5, 0.75])
    cpu = np.concatenate([r["cpu_seconds"][r["initial"] :] for r in runs] or [[]])
    ratio = p_value = math.nan
    if reference is not None and method != REFERENCE:
        other = np.array([simple_regret(r)[-1] for r in reference])
        ratio = regret_ratio(list(zip(runs, reference, strict=True)))
        p_value = paired_p_value(final, other)
    return Row(
        objective=objective,
        method=method,
        seeds=len(runs),
        crashes=sum(r["error"] is not None for r in runs),
        median=float(median),
        lower=float(lower),
        upper=float(upper),
        solved=float((final < threshold).mean()),
        cumulative=float(np.median([cumulative_regret(r) for r in runs])),
        ratio=ratio,
        p_value=p_value,
        cpu_median=float(np.median(cpu)) if len(cpu) else math.nan,
        cpu_maximum=float(cpu.max()) if len(cpu) else math.nan,
    )


def paired(
    records: list[Record], objective: str, method: str, other: str
) -> list[Pair]:
    """The runs of two methods on an objective, in the seeds that both have."""
    by_run = {(r["objective"], r["method"], r["seed"]): r for r in records}
    seeds = sorted({r["seed"] for r in records})
    pairs = [
        (by_run.get((objective, method, s)), by_run.get((objective, other, s)))
        for s in seeds
    ]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def regret_ratio(pairs: list[Pair]) -> float:
    """Geometric mean of final regrets over those of the other; NaN without pairs."""
    logs = []
    for ours, theirs in pairs:
        floor = FLOOR * ours["threshold"]
        ends = [max(simple_regret(r)[-1], floor) for r in (ours, theirs)]
        logs.append(math.log(ends[0] / ends[1]))
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def paired_p_value(ours: np.ndarray, other: np.ndarray) -> float:
    """Two-sided Wilcoxon signed-rank test; NaN below 6 pairs, which cannot tell."""
    if len(ours) < 6:
        return math.nan
    if np.array_equal(ours, other):
        return 1.0
    return float(wilcoxon(ours, other, zero_method="zsplit").pvalue)


def overall(table: list[Row]) -> dict[str, float]:
    """Geometric mean over objectives of each method's ratio to the reference."""
    ratios: dict[str, list[float]] = {}
    for row in table:
        if math.isfinite(row.ratio) and row.ratio > 0:
            ratios.setdefault(row.method, []).append(math.log(row.ratio))
    return {m: math.exp(sum(logs) / len(logs)) for m, logs in ratios.items()}
