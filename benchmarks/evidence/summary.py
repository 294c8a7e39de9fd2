"""What the studies show beside what they must show."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.evidence.studies import STUDIES
from benchmarks.tasks import Record


def summary(records: list[Record]) -> str:
    """A markdown table of claims, then the margins behind them."""
    lines = [
        "| study | claim | measured | required | met |",
        "| --- | --- | --- | --- | --- |",
    ]
    margins = []
    for name, study in STUDIES.items():
        runs = [record for record in records if record["study"] == name]
        if not runs:
            continue
        for claim in study.claims:
            count = sum(claim.holds(record) for record in runs)
            sign = "≤" if claim.at_most else "≥"
            met = "yes" if claim.met(count, len(runs)) else "NO"
            lines.append(
                f"| {name} | {claim.text} | {count} of {len(runs)} "
                f"| {sign} {claim.share:.1%} | {met} |"
            )
        margins.append(f"{name}: {_margins(runs)}")
        if "sampled" in runs[0]:
            margins += [
                f"{name}, {s}: {_sampling(runs, s)}" for s in runs[0]["sampled"]
            ]
        failures = [f for record in runs for f in record.get("failures", ())]
        if failures:
            margins.append(f"{name}: {len(failures)} failed fits, first {failures[0]}")
    return "\n".join([*lines, "", *margins])


def _margins(runs: list[Record]) -> str:
    if "log_likelihood" in runs[0]:
        names = runs[0]["log_likelihood"]
        return "; ".join(
            f"{n} {_spread(r['log_likelihood'][n] for r in runs)}" for n in names
        )
    names = [n for n in runs[0]["log_evidence"] if n != "plain"]
    return "log evidence above plain: " + "; ".join(
        f"{n} {_spread(_gap(r, n) for r in runs)}" for n in names
    )


def _sampling(runs: list[Record], name: str) -> str:
    found = [record["sampled"][name] for record in runs]
    quantities = {
        "Laplace − SMC": (f["laplace"] - f["value"] for f in found),
        "SMC − reference": (f["value"] - f["reference"] for f in found),
        "CPU s": (f["cpu_seconds"] for f in found),
        "evaluations": (f["evaluations"] for f in found),
    }
    return "; ".join(f"{q} {_spread(values)}" for q, values in quantities.items())


def _gap(record: Record, name: str) -> float:
    found = record["log_evidence"]
    return float(found.get(name, np.nan) - found.get("plain", np.nan))


def _spread(values: Iterable[float]) -> str:
    low, median, high = np.nanquantile(list(values), [0.0, 0.5, 1.0])
    return f"{median:.2f} [{low:.2f}, {high:.2f}]"
