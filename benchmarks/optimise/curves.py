"""Regret against evaluations, a panel for each objective."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.optimise.table import FLOOR, REFERENCE, simple_regret
from benchmarks.tasks import Record

OURS = "bokern"
FEW = 4
"""With more methods, only ours and the reference have a band, or none could be seen."""

_COLOURS = (
    "#BBBBBB",
    "#EE6677",
    "#228833",
    "#4477AA",
    "#66CCEE",
    "#AA3377",
    "#CCBB44",
    "#EE7733",
    "#009988",
    "#882255",
    "#999933",
    "#332288",
)
_OURS_COLOUR = "#222222"
# Pixels.
_PANEL, _TOP, _BOTTOM, _GAP = 300, 140, 40, 30
_COLUMNS = 3


def figure(records: list[Record]) -> go.Figure:
    """Median simple regret with quartiles; thresholds are dotted.

    Regrets below `FLOOR` of the threshold are drawn there, as ratios count them.
    """
    objectives = list(dict.fromkeys(r["objective"] for r in records))
    methods = list(dict.fromkeys(r["method"] for r in records))
    columns = min(_COLUMNS, len(objectives))
    count = math.ceil(len(objectives) / columns)
    drawn = make_subplots(
        rows=count,
        cols=columns,
        subplot_titles=objectives,
        vertical_spacing=0.25 / count if count > 1 else 0.0,
    )
    shown: set[str] = set()
    for k, objective in enumerate(objectives):
        cell = {"row": k // columns + 1, "col": k % columns + 1}
        of_objective = [r for r in records if r["objective"] == objective]
        threshold = float(np.median([r["threshold"] for r in of_objective]))
        for method in dict.fromkeys(r["method"] for r in of_objective):
            runs = [simple_regret(r) for r in of_objective if r["method"] == method]
            banded = len(methods) <= FEW or method in (OURS, REFERENCE)
            traces = _curves(
                np.maximum(np.array(runs), FLOOR * threshold),
                method,
                _colour(method, methods),
                legend=method not in shown,
            )
            shown.add(method)
            for trace in traces if banded else traces[1:]:
                drawn.add_trace(trace, **cell)
        drawn.add_hline(threshold, line={"dash": "dot", "width": 1}, **cell)
    drawn.update_yaxes(type="log", exponentformat="power", nticks=6)
    drawn.update_annotations(font_size=13)
    height = _PANEL * count
    drawn.update_layout(
        template="simple_white",
        height=height + _TOP + _BOTTOM,
        title={
            "text": "Simple regret: median, quartiles as a band, dotted what is solved",
            "yref": "container",
            "y": 0.99,
            "yanchor": "top",
        },
        legend={"orientation": "h", "y": 1 + _GAP / height, "yanchor": "bottom"},
        margin={"t": _TOP, "b": _BOTTOM},
    )
    return drawn


def _curves(
    regret: np.ndarray, method: str, colour: str, legend: bool
) -> list[go.Scatter]:
    lower, median, upper = np.quantile(regret, [0.25, 0.5, 0.75], axis=0)
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
        name=method,
        hovertemplate=f"{method}, {len(regret)} seeds: %{{y:.3g}} at %{{x}}",
        line={"color": colour, "width": 3 if method == OURS else 1.5},
        legendgroup=method,
        showlegend=legend,
    )
    return [band, line]


def _colour(method: str, methods: list[str]) -> str:
    if method == OURS:
        return _OURS_COLOUR
    others = [m for m in methods if m != OURS]
    return _COLOURS[others.index(method) % len(_COLOURS)]
