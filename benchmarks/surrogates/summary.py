"""Errors and densities, method beside method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.claims import Row, claims_table, failures
from benchmarks.surrogates.data import FUNCTIONS
from benchmarks.surrogates.methods import METHODS
from benchmarks.tasks import Record

OURS = "conditional-draws"
"""The conditional deep kernel, its hyperparameters averaged over."""

ERRORS = (
    ("gramacy_lee", 40, OURS, 0.04),
    ("xiong", 40, OURS, 0.20),
    ("gramacy2d", 40, "conditional-9-draws", 0.60),
)
"""Function, points, method, and the median error that it must not exceed."""

SAFE = (("gramacy_lee", 40, OURS), ("xiong", 40, OURS))
"""Where the 90th percentile of the negative log density must be 0 or less."""

FAILED = 1e6
"""Error and negative log density of a run that failed."""

SMALL, BASELINE, SEARCH = 10, "matern", "search"


def summary(records: list[Record]) -> str:
    """Claims, then medians with quartiles, as markdown."""
    rows = [
        *(_error(records, *claim) for claim in ERRORS),
        *(_density(records, *claim) for claim in SAFE),
        *(
            _small(records, name)
            for name in FUNCTIONS
            if SMALL in FUNCTIONS[name].sizes
        ),
        _high(records),
    ]
    return "\n\n".join([claims_table(rows), _table(records), failures(records)])


def _error(records: list[Record], name: str, n: int, method: str, limit: float) -> Row:
    found = _values(records, name, n, method, "nrmse")
    claim = f"{name}, n = {n}, {method}: median error over {len(found)} seeds"
    return _limited(claim, found and float(np.median(found)), limit)


def _density(records: list[Record], name: str, n: int, method: str) -> Row:
    found = _values(records, name, n, method, "nlpd")
    claim = f"{name}, n = {n}, {method}: 90th percentile of negative log density"
    return _limited(claim, found and float(np.quantile(found, 0.9)), 0.0)


def _small(records: list[Record], name: str) -> Row:
    """No seed far behind the Matérn of the same seed."""
    excess = [
        a["nlpd"] - 3.0 * max(0.0, b["nlpd"]) - 5.0
        for a, b in _pairs(records, name, SMALL, OURS)
    ]
    claim = f"{name}, n = {SMALL}: negative log density over 3 × Matérn's + 5, worst"
    return _limited(claim, excess and max(excess), 0.0)


def _high(records: list[Record]) -> Row:
    ratios = [
        a["nrmse"] / b["nrmse"] for a, b in _pairs(records, "hartmann6", 60, SEARCH)
    ]
    claim = "hartmann6, n = 60: error of search over Matérn's, median"
    return _limited(claim, ratios and float(np.median(ratios)), 1.05)


def _limited(claim: str, found: float | Sequence[float], limit: float) -> Row:
    if isinstance(found, Sequence):
        return Row(claim, "no runs", f"≤ {limit:g}", None)
    return Row(claim, f"{found:.3g}", f"≤ {limit:g}", bool(found <= limit))


def _values(
    records: list[Record], name: str, n: int, method: str, what: str
) -> list[float]:
    """By seed; ``FAILED`` for failures."""
    return [
        FAILED if r["error"] else r[what]
        for r in records
        if (r["function"], r["n"], r["method"]) == (name, n, method)
    ]


def _pairs(
    records: list[Record], name: str, n: int, method: str
) -> list[tuple[Record, Record]]:
    """Runs of a method and of the baseline on the same data that did not fail."""
    by_key = {
        (r["method"], r["seed"]): r
        for r in records
        if (r["function"], r["n"]) == (name, n) and not r["error"]
    }
    seeds = sorted({seed for which, seed in by_key if which == method})
    return [
        (by_key[method, seed], by_key[BASELINE, seed])
        for seed in seeds
        if (BASELINE, seed) in by_key
    ]


def _table(records: list[Record]) -> str:
    lines = [
        "| function | n | method | seeds | error: median [quartiles] | negative log "
        "density: median, 90th percentile, worst | CPU s: median |",
        "| --- |" + " --- |" * 6,
    ]
    for name, function in FUNCTIONS.items():
        for n in function.sizes:
            for method in METHODS:
                errors = _values(records, name, n, method, "nrmse")
                if not errors:
                    continue
                low, middle, high = np.quantile(errors, (0.25, 0.5, 0.75))
                density = _values(records, name, n, method, "nlpd")
                half, most, worst = np.quantile(density, (0.5, 0.9, 1.0))
                cpu = np.median(_values(records, name, n, method, "cpu_seconds"))
                lines.append(
                    f"| {name} | {n} | {method} | {len(errors)} | {middle:.3g} "
                    f"[{low:.3g}, {high:.3g}] | {half:.3g}, {most:.3g}, {worst:.3g} "
                    f"| {cpu:.2g} |"
                )
    return "\n".join(lines)
