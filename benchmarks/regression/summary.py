"""Test log density and errors, method beside method."""

from __future__ import annotations

import numpy as np

from benchmarks.claims import Row, claims_table, failures
from benchmarks.regression.methods import METHODS
from benchmarks.regression.splits import FILES
from benchmarks.tasks import Record

PUBLISHED_MSE = {"concrete": 0.087}
"""Mean squared error over the variance, of the compositional kernel search of Duvenaud
et al. (2013), table 2, by ten-fold cross-validation: other splits than ours."""

OURS, BASELINE = "search", "matern"


def summary(records: list[Record]) -> str:
    """Claims, then scores of each split, as markdown."""
    rows = [row for name in FILES for row in _claims(name, records)]
    return "\n\n".join([claims_table(rows), _scores(records), failures(records)])


def _claims(name: str, records: list[Record]) -> list[Row]:
    pairs = _pairs(name, records)
    if not pairs:
        return []
    rows = []
    for measure, sign in (("log_density", 1.0), ("rmse", -1.0)):
        ours = np.mean([a[measure] for a, _ in pairs])
        theirs = np.mean([b[measure] for _, b in pairs])
        rows.append(
            Row(
                f"{name}: {measure.replace('_', ' ')}, mean of {len(pairs)} splits",
                f"{ours:.4g}",
                f"{'≥' if sign > 0 else '≤'} {theirs:.4g} (Matérn-5/2)",
                bool(sign * (ours - theirs) >= 0),
            )
        )
    if name in PUBLISHED_MSE:
        mse = np.mean([a["standardised_mse"] for a, _ in pairs])
        limit = PUBLISHED_MSE[name]
        claim = f"{name}: standardised mean squared error"
        required = f"≤ {limit} (published, ten folds)"
        rows.append(Row(claim, f"{mse:.3f}", required, bool(mse <= limit)))
    return rows


def _pairs(name: str, records: list[Record]) -> list[tuple[Record, Record]]:
    """Runs of both methods on the same split that did not fail."""
    by_key = {
        (r["method"], r["seed"]): r
        for r in records
        if r["data"] == name and not r["error"]
    }
    seeds = sorted({seed for _, seed in by_key})
    return [
        (by_key[OURS, s], by_key[BASELINE, s])
        for s in seeds
        if (OURS, s) in by_key and (BASELINE, s) in by_key
    ]


def _scores(records: list[Record]) -> str:
    lines = [
        "| data | split | method | rows | repeated in test | RMSE | MSE / variance "
        "| log density | members | CPU s | best |",
        "| --- |" + " --- |" * 10,
    ]
    for name in FILES:
        for method in METHODS:
            for r in records:
                if (r["data"], r["method"]) != (name, method):
                    continue
                head = f"| {name} | {r['seed']} | {method} "
                if r["error"]:
                    lines.append(head + "| failed |" + " |" * 7)
                    continue
                lines.append(
                    head + f"| {r['rows']} | {r['repeated']} | {r['rmse']:.4g} "
                    f"| {r['standardised_mse']:.4f} | {r['log_density']:.3f} "
                    f"| {r['members']} | {r['cpu_seconds']:.0f} "
                    f"| {r.get('best', '')} |"
                )
    return "\n".join(lines)
