"""The confusion matrix, and what it must show."""

from __future__ import annotations

from collections import Counter

import numpy as np

from benchmarks.claims import Row, claims_table, failures
from benchmarks.identify.truths import FAMILIES
from benchmarks.tasks import Record

REQUIRED = {80: 0.8}
"""Share of the diagonal, by number of points."""


def summary(records: list[Record]) -> str:
    """Claims and confusion matrices, of each method and number of points."""
    keys = sorted({(r["method"], r["n"]) for r in records}, reverse=True)
    rows, blocks = [], []
    for method, n in keys:
        runs = [r for r in records if (r["method"], r["n"]) == (method, n)]
        right = sum(found(r) == r["truth"] for r in runs)
        claim = f"{method}, n = {n}: the truth has the highest evidence"
        if n in REQUIRED:
            rows.append(Row.of_share(claim, right, len(runs), REQUIRED[n]))
        else:
            measured = f"{right} of {len(runs)} ({right / len(runs):.0%})"
            rows.append(Row(claim, measured, "", None))
        blocks += [_matrix(method, n, runs), _flags(runs)]
    return "\n\n".join([claims_table(rows), *blocks, failures(records)])


def found(record: Record) -> str:
    """The structure of the highest evidence, or ``"failed"``."""
    return str(record.get("best", "failed"))


def _matrix(method: str, n: int, runs: list[Record]) -> str:
    names = [*FAMILIES, "failed"]
    lines = [
        f"{method}, n = {n}: truths in rows, how often each structure was found in "
        "columns; then the median probability of the truth, the median lead of the "
        "truth over the best other in nats, and median CPU seconds.",
        "",
        f"| truth | {' | '.join(names)} | probability | lead | CPU s |",
        "| --- |" + " --- |" * (len(names) + 3),
    ]
    for truth in FAMILIES:
        own = [r for r in runs if r["truth"] == truth]
        if not own:
            continue
        counts = Counter(found(r) for r in own)
        cells = [str(counts[name]) if counts[name] else "·" for name in names]
        probability = np.median([r.get("probability", {}).get(truth, 0) for r in own])
        cpu = np.median([r["cpu_seconds"] for r in own])
        lines.append(
            f"| {truth} | {' | '.join(cells)} | {probability:.2f} | {_lead(own)} "
            f"| {cpu:.1f} |"
        )
    return "\n".join(lines)


def _lead(runs: list[Record]) -> str:
    leads = []
    for r in runs:
        values = r.get("log_evidence", {})
        others = [v for name, v in values.items() if name != r["truth"]]
        if r["truth"] in values and others:
            leads.append(values[r["truth"]] - max(others))
    if not leads:
        return ""
    low, median, high = np.quantile(leads, [0.0, 0.5, 1.0])
    return f"{median:.1f} [{low:.1f}, {high:.1f}]"


def _flags(runs: list[Record]) -> str:
    of_best: Counter[str] = Counter()
    of_any: Counter[str] = Counter()
    failed = 0
    for r in runs:
        flags = r.get("flags", {})
        of_best.update(flags.get(r.get("best"), ()))
        of_any.update({flag for found in flags.values() for flag in found})
        failed += len(r.get("failures", ()))
    words = [
        f"{flag} {of_best[flag]} of the winners, in {of_any[flag]} of {len(runs)} runs"
        for flag in sorted(of_any)
    ]
    text = "; ".join(words) or "none"
    return f"Flags: {text}. Structures that could not be fitted: {failed}."
