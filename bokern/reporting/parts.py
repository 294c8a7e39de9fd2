"""The parts that a structure adds up, each with what the others leave of the data."""

from __future__ import annotations

import numpy as np
import torch
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from bokern.reporting.observations import NEAR
from bokern.reporting.results import ComparisonLike
from bokern.reporting.theme import ACCENT, BAND, MUTED, finish, label
from bokern.selection.component import Component, Slice
from bokern.selection.explanation import Explanation

__all__ = ["decomposition", "explained"]

MOST_PARTS = 8
PANELS_A_ROW = 3
LONGEST_TITLE = 90
ROW = 190
"""Height of a row of panels, in pixels."""


def explained(source: ComparisonLike | Explanation) -> Explanation:
    """An explanation itself, or that of a comparison's best structure."""
    return source if isinstance(source, Explanation) else source.explain()


def decomposition(source: ComparisonLike | Explanation) -> go.Figure:
    """Posterior mean of each part of a structure, and how well its shape is known.

    A row a part, by falling share of the variance, a panel an input that it reads; the
    last row holds the residuals.

    Args:
        source: A comparison, whose best structure is taken apart, or an explanation.

    Returns:
        A figure in raw units, or on the transformed scale on which the parts add up.
    """
    explanation = explained(source)
    parts = explanation.components[:MOST_PARTS]
    panels = [_panels(part) for part in parts]
    across = max(map(len, panels))
    titles = [
        f"{i}. {label(part.structure, LONGEST_TITLE)} ({100.0 * part.share:.0f} %)"
        for i, part in enumerate(parts, start=1)
    ]
    rows = len(parts) + 1
    figure = make_subplots(
        rows=rows,
        cols=across,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.36 / rows,
    )
    for row, (part, cuts) in enumerate(zip(parts, panels, strict=True), start=1):
        for col, cut in enumerate(cuts, start=1):
            for trace in _traces(explanation, part, cut, row == 1 and col == 1):
                figure.add_trace(trace, row=row, col=col)
            figure.update_xaxes(title={"text": label(cut.column)}, row=row, col=col)
        for col in range(len(cuts) + 1, across + 1):
            _hide(figure, row, col)
    _residuals(figure, explanation, rows)
    for col in range(2, across + 1):
        _hide(figure, rows, col)
    for row, title in enumerate([*titles, f"{rows}. residuals"], start=1):
        _title(figure, title, row, across)
    return finish(figure, _caption(explanation, panels), height=90 + (ROW + 40) * rows)


def _panels(part: Component) -> list[Slice]:
    """Slices along the inputs in which a part varies most, in their own order."""
    spread = [float(cut.mean.max() - cut.mean.min()) for cut in part.slices]
    most = sorted(np.argsort([-s for s in spread], kind="stable")[:PANELS_A_ROW])
    return [part.slices[i] for i in most]


def _traces(
    explanation: Explanation, part: Component, cut: Slice, first: bool
) -> list[go.Scatter]:
    x, m, s = cut.grid.numpy(), cut.mean.numpy(), cut.shape_sd.numpy()
    column = explanation.data.column_names.index(cut.column)
    return [
        go.Scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([m - 2 * s, (m + 2 * s)[::-1]]),
            fill="toself",
            fillcolor=BAND,
            line={"width": 0},
            hoverinfo="skip",
            name="± 2 sd of the shape",
            legendgroup="band",
            showlegend=first,
        ),
        go.Scatter(
            x=x,
            y=m,
            mode="lines",
            line={"color": ACCENT, "width": 2},
            name="posterior mean",
            legendgroup="mean",
            showlegend=first,
        ),
        go.Scatter(
            x=explanation.data.X[:, column].cpu().numpy(),
            y=(part.mean + explanation.residual).numpy(),
            mode="markers",
            marker={
                "color": MUTED,
                "size": 4,
                "opacity": _nearness(explanation, part, cut),
            },
            name="data less the other parts",
            legendgroup="data",
            showlegend=first,
        ),
    ]


def _nearness(explanation: Explanation, part: Component, cut: Slice) -> list[float]:
    """Opacity of each point: 1 on the slice, less the further from it.

    Only inputs that the part reads count.
    """
    data = explanation.data
    names = list(data.column_names)
    others = [names.index(c.column) for c in part.slices if c.column != cut.column]
    X = data.X.double().cpu()
    if not others:
        return [0.9] * len(X)
    low, high = data.bounds.double().cpu()
    away = ((X - explanation.reference) / (high - low))[:, others]
    weight = torch.exp2(-away.square().mean(-1) / NEAR**2)
    return (0.12 + 0.78 * weight).tolist()


def _residuals(figure: go.Figure, explanation: Explanation, row: int) -> None:
    """What is left of the data, along the only input or in the order of the rows."""
    data = explanation.data
    one = len(data.column_names) == 1
    n = len(explanation.residual)
    x = data.X[:, 0].cpu().numpy() if one else np.arange(1, n + 1)
    figure.add_scatter(
        x=x,
        y=explanation.residual.numpy(),
        mode="markers",
        marker={"color": MUTED, "size": 4, "opacity": 0.9},
        showlegend=False,
        row=row,
        col=1,
    )
    sd = explanation.noise_sd[1]
    figure.add_hrect(
        y0=-2 * sd,
        y1=2 * sd,
        fillcolor=BAND,
        line_width=0,
        layer="below",
        row=row,
        col=1,
    )
    name = label(data.column_names[0]) if one else "row of the data"
    figure.update_xaxes(title={"text": name}, row=row, col=1)


def _hide(figure: go.Figure, row: int, col: int) -> None:
    figure.update_xaxes(visible=False, row=row, col=col)
    figure.update_yaxes(visible=False, row=row, col=col)


def _title(figure: go.Figure, title: str, row: int, across: int) -> None:
    """A title at the left, above a row of panels."""
    number = (row - 1) * across + 1
    axis = "" if number == 1 else str(number)
    figure.add_annotation(
        text=title,
        xref="paper",
        x=0.0,
        xanchor="left",
        yref=f"y{axis} domain",
        y=1.0,
        yanchor="bottom",
        showarrow=False,
        font={"size": 13},
    )


def _caption(explanation: Explanation, panels: list[list[Slice]]) -> str:
    d = len(explanation.data.column_names)
    parts = len(explanation.components)
    units = explanation.units
    scale = "in the units of the data" if units.is_raw else f"on the scale {units.name}"
    text = (
        f"The parts of {explanation.structure}, {scale}: posterior mean of each (line) "
        "with two standard deviations of its shape, which is the part less its "
        "average over the data (band); the levels of parts can hardly be told from "
        f"one another. Their sum and the constant, {explanation.constant:.4g}, are the "
        "prediction. "
        "Points are the data less the constant and all other parts. In brackets the "
        "share of the variance. Each row has its own vertical scale. Last row: the "
        "residuals, with a band of two standard deviations of the noise"
    )
    if d > 1:
        text += (
            ". The other inputs stay at the observed point nearest the median; points "
            "fade with distance from the slice"
        )
    if parts > len(panels):
        text += f". Shown are the {len(panels)} largest of {parts} parts"
    drawn = explanation.components[: len(panels)]
    if any(len(c) < len(e.slices) for c, e in zip(panels, drawn, strict=True)):
        text += f". Of a part that reads more, the {PANELS_A_ROW} inputs along which "
        text += "it varies most"
    return text + "."
