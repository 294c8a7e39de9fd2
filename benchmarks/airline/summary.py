"""How often the best optimum is found, and what it is."""

from __future__ import annotations

import numpy as np

from benchmarks.airline.run import METHODS, SCALES
from benchmarks.claims import Row, claims_table, failures
from benchmarks.tasks import Record

SLACK = 1.0
"""Nats below the best that still count as found."""

REQUIRED = 0.95
PUBLISHED = 99.7
"""Log likelihood at the best optimum known, raw scale, by maximum likelihood."""


def summary(records: list[Record]) -> str:
    """Claims, then what was reached, as markdown.

    The best of MAP is that of all seeds and of both ways to it, ``search`` and ``fit``.
    """
    rows, lines = [], []
    for scale in SCALES:
        for method in METHODS:
            runs = _runs(records, scale, method)
            if not runs:
                continue
            best = reference(records, scale, method)
            values = [r.get("reached", -np.inf) for r in runs]
            hits = sum(value >= best - SLACK for value in values)
            claim = f"{scale} scale, {method}: within {SLACK:g} nat of {best:.2f}"
            rows.append(Row.of_share(claim, hits, len(runs), REQUIRED))
            cpu = np.median([r["cpu_seconds"] for r in runs])
            low, median, high = np.quantile(values, [0.0, 0.5, 1.0], method="nearest")
            lines.append(
                f"- {scale}, {method}: median {median:.2f}, least {low:.2f}, best "
                f"{high:.2f} nats; median CPU {cpu:.1f} s"
            )
    return "\n\n".join([claims_table(rows), "\n".join(lines), failures(records)])


def reference(records: list[Record], scale: str, method: str) -> float:
    """The best objective known."""
    alike = ("fit-ml",) if method == "fit-ml" else ("search", "fit")
    known = [
        r["reached"]
        for name in alike
        for r in _runs(records, scale, name)
        if "reached" in r
    ]
    if method == "fit-ml" and scale == "raw":
        known.append(PUBLISHED)
    return max(known, default=float("nan"))


def _runs(records: list[Record], scale: str, method: str) -> list[Record]:
    return [r for r in records if (r["scale"], r["method"]) == (scale, method)]
