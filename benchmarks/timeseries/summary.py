"""Errors relative to the best method of each series, ours beside published ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.claims import Row, claims_table, failures
from benchmarks.tasks import Record
from benchmarks.timeseries.methods import METHODS
from benchmarks.timeseries.series import NAMES, TASKS

OURS = "search"
PEERS = ("ABCD-accuracy", "CKS")
CPU_SECONDS = 240.0

Errors = dict[str, dict[str, float]]
"""By series, by method."""


def summary(records: list[Record]) -> str:
    """Claims, then medians and the ratios of each series, as markdown.

    Ratios are to the least error of a series within a pool: the published methods and
    our search, so that nothing but the search is added to what was published; or our
    methods alone.
    """
    rows, blocks = [], []
    for task in TASKS:
        runs = [r for r in records if r["task"] == task]
        if not runs:
            continue
        joint = ratios(_joint(runs))
        if joint:
            rows += [*_claims(task, joint), _cpu(task, runs)]
            blocks.append(_table(f"{task}, published methods and ours", joint))
        own = ratios(_own(runs, METHODS))
        blocks += [_table(f"{task}, our runs alone", own), _scores(runs)]
    return "\n\n".join([claims_table(rows), *blocks, failures(records)])


def ratios(errors: Errors) -> Errors:
    """Errors divided by the least of their series; a method that failed is infinite."""
    return {
        name: {m: e / min(methods.values()) for m, e in methods.items()}
        for name, methods in errors.items()
    }


def medians(relative: Errors) -> dict[str, float]:
    """Medians over series, by method, best first."""
    methods = dict.fromkeys(m for row in relative.values() for m in row)
    found = {
        m: float(np.median([row[m] for row in relative.values() if m in row]))
        for m in methods
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _own(runs: list[Record], methods: Iterable[str]) -> Errors:
    """Mean over seeds of our errors, of the series that all these methods have."""
    wanted = list(methods)
    table: dict[str, dict[str, list[float]]] = {}
    for r in runs:
        if r["method"] in wanted:
            error = float("inf") if r["error"] else float(r["rmse"])
            table.setdefault(r["series"], {}).setdefault(r["method"], []).append(error)
    present = {m for row in table.values() for m in row}
    return {
        name: {m: float(np.mean(e)) for m, e in table[name].items()}
        for name in NAMES
        if name in table and set(table[name]) == present
    }


def _joint(runs: list[Record]) -> Errors:
    published = {r["series"]: r["published"] for r in runs if "published" in r}
    own = _own(runs, [OURS])
    return {
        name: {**published[name], OURS: row[OURS]}
        for name, row in own.items()
        if name in published
    }


def _claims(task: str, joint: Errors) -> list[Row]:
    found = medians(joint)
    rows = []
    for peer in PEERS:
        if peer not in found:
            continue
        rows.append(
            Row(
                f"{task}: median relative error of {OURS} over {len(joint)} series "
                "in one pool with the published methods",
                f"{found[OURS]:.3f}",
                f"< {found[peer]:.3f} ({peer})",
                found[OURS] < found[peer],
            )
        )
    return rows


def _cpu(task: str, runs: list[Record]) -> Row:
    seconds = [r["cpu_seconds"] for r in runs if r["method"] == OURS]
    most = max(seconds)
    return Row(
        f"{task}: CPU seconds of {OURS}, greatest (median)",
        f"{most:.0f} ({np.median(seconds):.0f})",
        f"≤ {CPU_SECONDS:.0f}",
        most <= CPU_SECONDS,
    )


def _table(title: str, relative: Errors) -> str:
    order = medians(relative)
    lines = [
        f"{title}: error relative to the best of the series.",
        "",
        f"| series | {' | '.join(order)} |",
        "| --- |" + " --- |" * len(order),
    ]
    for name, row in relative.items():
        cells = [f"{row[m]:.2f}" if m in row else "" for m in order]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    cells = [f"**{value:.3f}**" for value in order.values()]
    lines.append(f"| median | {' | '.join(cells)} |")
    return "\n".join(lines)


def _scores(runs: list[Record]) -> str:
    lines = [
        "| series | method | seed | RMSE | log density | CPU s | found |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    ranked = sorted(
        runs, key=lambda r: (NAMES.index(r["series"]), r["method"], r["seed"])
    )
    for r in ranked:
        head = f"| {r['series']} | {r['method']} | {r['seed']} "
        if r["error"]:
            lines.append(head + f"| failed | | {r['cpu_seconds']:.0f} | |")
        else:
            flags = f" [{' '.join(r['flags'])}]" if r.get("flags") else ""
            lines.append(
                head + f"| {r['rmse']:.4g} | {r['log_density']:.3f} "
                f"| {r['cpu_seconds']:.0f} | {r.get('best', '')}{flags} |"
            )
    return "\n".join(lines)
