"""The posterior along each parameter, with the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from bokern.errors import ShapeError
from bokern.reporting.axes import Axis
from bokern.reporting.observations import Observed
from bokern.reporting.predicting import Predicted, predicted
from bokern.reporting.surrogate import Source, modelled
from bokern.reporting.theme import ACCENT, MUTED, finish, label, shade

__all__ = [
    "along",
    "band_and_mean",
    "observed_along",
    "posterior_slices",
    "reference_of",
]

FINE = 600
COARSE = 121
PANELS_A_ROW = 3

BAND_NAMES = {False: "± 2 sd", True: "central 95 %"}
"""By whether the outcome transform skews it."""

At = Mapping[str, Any] | Sequence[Any]
Places = NDArray[np.float64]


def posterior_slices(
    source: Source,
    *,
    at: At | None = None,
    limit: int = 6,
    outcome: str | None = None,
) -> go.Figure:
    """Posterior mean and two standard deviations along each parameter.

    With one parameter the whole function is drawn. With more, the others stay at a
    reference point; points fade with their distance from the slice.

    Args:
        source: Whose model is drawn; see ``bokern.plot.modelled``.
        at: The reference point, by name or in order; by default the best trial of an
            optimisation, else the observed point nearest the median.
        limit: At most so many parameters, those along which the mean varies most.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure in raw units.

    Raises:
        ShapeError: If ``at`` lacks a parameter.
        InputError: If it has a value that is none of the parameter's.
    """
    data = modelled(source, outcome)
    p = len(data.axes)
    reference, words = reference_of(data, at)
    every = [along(data, reference, i, FINE if p == 1 else COARSE) for i in range(p)]
    curves = [(grid, predicted(data, places)) for grid, places in every]
    spread = [np.ptp(curve.mean) for _, curve in curves]
    shown = sorted(np.argsort(np.negative(spread), kind="stable")[: max(limit, 1)])
    across = min(len(shown), PANELS_A_ROW)
    down = -(-len(shown) // across)
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes="all" if p > 1 else False,
        horizontal_spacing=0.04,
        vertical_spacing=0.24 / down if down > 1 else 0,
    )
    for panel, i in enumerate(shown):
        row, col = panel // across + 1, panel % across + 1
        grid, curve = curves[i]
        for trace in _traces(data, reference, i, grid, curve, panel == 0):
            figure.add_trace(trace, row=row, col=col)
        figure.update_xaxes(**data.axes[i].layout, row=row, col=col)
        if col == 1:
            title = label(data.target_name)
            figure.update_yaxes(title={"text": title}, row=row, col=col)
        if p > 1:
            figure.add_vline(
                x=float(reference[i]),
                line={"color": MUTED, "width": 1.5, "dash": "dot"},
                row=row,
                col=col,
            )
    caption = _caption(data, words, len(shown), curves[0][1].skewed)
    return finish(figure, caption, height=110 + 270 * down)


def reference_of(data: Observed, at: At | None) -> tuple[Places, str]:
    """The point through which slices go, p, and what to call it."""
    names = [axis.name for axis in data.axes]
    if at is None and data.best is not None:
        return data.places[data.best], "the best trial"
    if at is None:
        middle = np.sort(data.places, axis=0)[(len(data.places) - 1) // 2]
        away = [
            axis.away(data.places[:, i], middle[i]) for i, axis in enumerate(data.axes)
        ]
        nearest = int(np.square(away).sum(0).argmin())
        return data.places[nearest], "the observed point nearest the median"
    if isinstance(at, Mapping):
        missing = [name for name in names if name not in at]
        if missing:
            raise ShapeError(
                f"expected a value for each parameter, got none for {missing}; "
                "add them to at="
            )
        at = [at[name] for name in names]
    if len(at) != len(names):
        raise ShapeError(
            f"expected {len(names)} values, got {len(at)}; give at= one value a "
            "parameter"
        )
    point = [a.places([value])[0] for a, value in zip(data.axes, at, strict=True)]
    return np.array(point), "the values marked by dotted lines"


def along(
    data: Observed, reference: Places, i: int, size: int
) -> tuple[Places, Places]:
    """The places along an axis, m, and with the others at the reference, m x p."""
    grid = data.axes[i].grid(size)
    places = np.tile(reference, (len(grid), 1))
    places[:, i] = grid
    return grid, places


def observed_along(
    data: Observed, reference: Places, i: int, first: bool
) -> go.Scatter:
    """The observations along an axis, which fade with distance from the slice."""
    return go.Scatter(
        x=data.places[:, i],
        y=data.y.numpy(),
        mode="markers",
        marker={
            "color": MUTED,
            "size": 5,
            "opacity": data.nearness(reference, (i,)),
        },
        name="data",
        legendgroup="data",
        showlegend=first,
    )


def _traces(
    data: Observed,
    reference: Places,
    i: int,
    grid: Places,
    curve: Predicted,
    first: bool,
) -> list[go.Scatter]:
    band, mean = band_and_mean(data.axes[i], grid, curve)
    band.update(
        name=BAND_NAMES[curve.skewed],
        legendgroup="band",
        showlegend=first,
        hoverinfo="skip",
    )
    mean.update(name="posterior mean", legendgroup="mean", showlegend=first)
    return [band, mean, observed_along(data, reference, i, first)]


def band_and_mean(
    axis: Axis, grid: Places, curve: Predicted, colour: str = ACCENT
) -> tuple[go.Scatter, go.Scatter]:
    """A curve with its band; of a choice, bars, as nothing is between its values."""
    line = {"color": colour, "width": 2}
    if axis.values:
        return _bars(grid, curve, line)
    band = go.Scatter(
        x=np.concatenate([grid, grid[::-1]]),
        y=np.concatenate([curve.low, curve.high[::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=shade(colour),
        line={"width": 0},
    )
    return band, go.Scatter(x=grid, y=curve.mean, mode="lines", line=line)


def _bars(
    grid: Places, curve: Predicted, line: dict[str, Any]
) -> tuple[go.Scatter, go.Scatter]:
    gap = np.full(len(grid), np.nan)
    band = go.Scatter(
        x=np.stack([grid, grid, gap], axis=1).reshape(-1),
        y=np.stack([curve.low, curve.high, gap], axis=1).reshape(-1),
        mode="lines",
        line={"color": shade(line["color"]), "width": 12},
    )
    marker = {"size": 14, "symbol": "line-ew", "line": line}
    return band, go.Scatter(x=grid, y=curve.mean, mode="markers", marker=marker)


def _caption(data: Observed, words: str, shown: int, skewed: bool) -> str:
    of = f" of the model {data.described}" if data.described else ""
    width = "the central 95 %" if skewed else "two standard deviations"
    text = (
        f"Posterior mean{of} (line) with {width} of the noise-free "
        f"function (band), and the {len(data.y)} observations, in the units of the data"
    )
    p = len(data.axes)
    if p > 1:
        text += (
            f". The others of {p} parameters stay at {words}; points fade with "
            "distance from the slice"
        )
        if shown < p:
            text += f". Shown are the {shown} of {p} parameters along which the mean "
            text += "varies most"
    return f"{text}. {data.remark}".strip()
