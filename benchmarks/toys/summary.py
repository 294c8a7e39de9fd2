"""Errors and densities of toys, method beside method."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.claims import Row, claims_table, failures
from benchmarks.tasks import Record
from benchmarks.toys.functions import FUNCTIONS
from benchmarks.uci.methods import METHODS

OURS, BASELINE = "sswim", "exact"
LIMITS = {"chirp": 0.20, "step": 0.14}
"""Median errors that must not be exceeded."""


def summary(records: list[Record]) -> str:
    """Claims, then medians with quartiles, as markdown."""
    rows = [_claim(records, name, limit) for name, limit in LIMITS.items()]
    rows.append(_claim(records, "mix", _median(records, "mix", BASELINE), "exact GP"))
    return "\n\n".join([claims_table(rows), _table(records), failures(records)])


def _claim(records: list[Record], name: str, limit: float, whose: str = "") -> Row:
    found = _median(records, name, OURS)
    known = not math.isnan(found) and not math.isnan(limit)
    count = len(_values(records, name, OURS, "rmse"))
    return Row(
        f"{name}: RMSE of {OURS}, median of {count} seeds",
        "no runs" if math.isnan(found) else f"{found:.3g}",
        f"≤ {limit:.3g}" + (f" ({whose})" if whose else ""),
        found <= limit if known else None,
    )


def _median(records: list[Record], name: str, method: str) -> float:
    return float(np.median(_values(records, name, method, "rmse") or [math.nan]))


def _values(records: list[Record], name: str, method: str, what: str) -> list[float]:
    """By seed; infinite for failures."""
    return [
        math.inf if r["error"] else r[what]
        for r in records
        if (r["function"], r["method"]) == (name, method)
    ]


def _table(records: list[Record]) -> str:
    lines = [
        "| function | method | seeds | RMSE: median [quartiles] | MNLP: median "
        "[quartiles] | noise sd: median | fit, CPU s: median |",
        "| --- |" + " --- |" * 6,
    ]
    for name in FUNCTIONS:
        for method in METHODS:
            errors = _values(records, name, method, "rmse")
            if not errors:
                continue
            density = _values(records, name, method, "mnlp")
            noise, seconds = (
                np.median(_values(records, name, method, what))
                for what in ("noise_sd", "fit_seconds")
            )
            lines.append(
                f"| {name} | {method} | {len(errors)} | {_quartiles(errors)} "
                f"| {_quartiles(density)} | {noise:.3g} | {seconds:.2g} |"
            )
    return "\n".join(lines)


def _quartiles(values: list[float]) -> str:
    """Quartiles are values seen, so that failures are not averaged with others."""
    low, high = np.quantile(values, (0.25, 0.75), method="nearest")
    middle = np.median(values)
    return f"{middle:.3g} [{low:.3g}, {high:.3g}]"
