"""The table as markdown, the regret curves as one HTML page."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.optimise.table import FLOOR, REFERENCE, overall, rows, simple_regret
from benchmarks.tasks import Record

_COLOURS = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCBB44",
    "#66CCEE",
    "#AA3377",
    "#BBBBBB",
    "#222222",
    "#EE7733",
)


def markdown(records: list[Record]) -> str:
    """Final simple regret of each method on each objective, as a table."""
    lines = [
        "| objective | method | seeds | crashes | final regret: median [quartiles] "
        f"| solved | cumulative | ratio to {REFERENCE} | p | CPU s/iteration: median, "
        "maximum |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    table = rows(records)
    for row in table:
        quartiles = f"{_number(row.median)} [{_number(row.lower)}, "
        quartiles += f"{_number(row.upper)}]"
        lines.append(
            f"| {row.objective} | {row.method} | {row.seeds} | {row.crashes} "
            f"| {quartiles} | {row.solved:.0%} | {_number(row.cumulative)} "
            f"| {_number(row.ratio)} | {_number(row.p_value)} "
            f"| {_number(row.cpu_median)}, {_number(row.cpu_maximum)} |"
        )
    means = [f"{m} {_number(r)}" for m, r in sorted(overall(table).items())]
    if means:
        mean = f"Geometric mean of the ratio to {REFERENCE} over objectives: "
        lines += ["", mean + "; ".join(means)]
    lines += ["", _notes(records)]
    return "\n".join(lines)


def _notes(records: list[Record]) -> str:
    objectives = dict.fromkeys(r["objective"] for r in records)
    thresholds = []
    for objective in objectives:
        limits = {r["threshold"] for r in records if r["objective"] == objective}
        text = " to ".join(_number(v) for v in sorted({min(limits), max(limits)}))
        thresholds.append(f"{objective} {text}")
    releases = {f"{k} {v}" for r in records for k, v in r["versions"].items()}
    return (
        f"Solved means a final simple regret below: {', '.join(thresholds)}. Only "
        "seeds that all methods of an objective have are counted. A crash counts as "
        "its last regret. The ratio is the geometric mean over paired seeds, regrets "
        f"below {FLOOR:.0%} of the threshold counting as that; p is the paired "
        f"two-sided Wilcoxon test. Versions: {', '.join(sorted(releases))}."
    )


def html(records: list[Record]) -> str:
    """Median simple regret with quartiles against evaluations, a panel an objective."""
    objectives = list(dict.fromkeys(r["objective"] for r in records))
    methods = list(dict.fromkeys(r["method"] for r in records))
    columns = min(2, len(objectives))
    figure = make_subplots(
        rows=math.ceil(len(objectives) / columns),
        cols=columns,
        subplot_titles=objectives,
        x_title="evaluations",
        y_title="simple regret",
    )
    for k, objective in enumerate(objectives):
        cell = {"row": k // columns + 1, "col": k % columns + 1}
        for colour, method in zip(_cycle(len(methods)), methods, strict=True):
            runs = [
                simple_regret(r)
                for r in records
                if (r["objective"], r["method"]) == (objective, method)
            ]
            if runs:
                traces = _curves(np.array(runs), method, colour, legend=k == 0)
                for trace in traces:
                    figure.add_trace(trace, **cell)
    figure.update_yaxes(type="log", exponentformat="power")
    figure.update_layout(
        template="simple_white",
        height=120 + 360 * math.ceil(len(objectives) / columns),
        title="Median simple regret, band from quartile to quartile",
    )
    page: str = figure.to_html(include_plotlyjs=True, full_html=True)
    return page


def _curves(
    regret: np.ndarray, method: str, colour: str, legend: bool
) -> list[go.Scatter]:
    lower, median, upper = np.maximum(
        np.quantile(regret, [0.25, 0.5, 0.75], axis=0), 1e-12
    )
    x = np.arange(1, regret.shape[1] + 1)
    band = go.Scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([upper, lower[::-1]]),
        fill="toself",
        fillcolor=colour,
        opacity=0.12,
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        legendgroup=method,
    )
    line = go.Scatter(
        x=x,
        y=median,
        name=f"{method} ({len(regret)})",
        line={"color": colour},
        legendgroup=method,
        showlegend=legend,
    )
    return [band, line]


def _cycle(n: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(n)]


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"
