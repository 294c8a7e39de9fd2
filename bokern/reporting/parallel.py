"""All trials at once: a line each, across an axis for every parameter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go
from plotly.colors import sample_colorscale

from bokern.errors import InputError
from bokern.reporting.axes import Axis
from bokern.reporting.digits import general
from bokern.reporting.progress import completed, keeping
from bokern.reporting.results import OptimizationLike, StudyLike, optimization_of
from bokern.reporting.theme import ALERT, COLOURS, INK, MUTED, colour_bar, finish, label

__all__ = ["parallel_coordinates"]

MOST_LINES = 400
"""Trials that are drawn, at most: the best, and others at even steps."""

LONGEST_TITLE = 16
SIDEWAYS = 0.022
"""Distance of tick labels from their axis, in distances of axes."""

Places = NDArray[np.float64]


def parallel_coordinates(
    source: OptimizationLike | StudyLike, *, outcome: str | None = None
) -> go.Figure:
    """A line for each trial across the axes of all parameters and of an outcome.

    Plain lines rather than plotly's own trace, which needs WebGL and a page that lets
    scripts make code.

    Args:
        source: An optimisation or a study.
        outcome: By which lines are coloured; the first objective by default.

    Returns:
        A figure whose vertical scale is the share of each axis; ticks are in the units
        of the parameters. The last axis is the outcome.

    Raises:
        InputError: If fewer than two parameters are searched, no trial was completed,
            or there is no such outcome.
    """
    result = optimization_of(source)
    name = outcome or next(iter(result.objectives))
    axes = [Axis.of(p) for p in result.parameters if not p.is_fixed]
    if len(axes) < 2:
        raise InputError(
            f"expected two parameters or more, got {[a.name for a in axes]}; the "
            "history or a slice shows one"
        )
    done = completed(result, name)
    if done.empty:
        raise InputError(
            f"expected trials with a value of {name!r}, got none completed; there is "
            "nothing to draw"
        )
    y = done[name].to_numpy(dtype=float)
    sign = -1.0 if result.objectives.get(name) == "maximize" else 1.0
    kept = keeping(result, done)
    order = _drawn(sign * y, kept)
    axes.append(Axis(name, float(y.min()), float(y.max())))
    places = np.stack([axis.places(list(done[axis.name])) for axis in axes], axis=1)
    figure = go.Figure()
    _rulers(figure, axes)
    _lines(figure, axes, places[order], done["trial"].to_numpy()[order], kept[order])
    _bar(figure, name, y)
    last = len(axes) - 1
    figure.update_xaxes(
        range=[-0.35, last + 0.25],
        tickvals=list(range(last + 1)),
        ticktext=[f"<b>{label(axis.name, LONGEST_TITLE)}</b>" for axis in axes],
        side="top",
        showgrid=False,
        showline=False,
        ticks="",
    )
    figure.update_yaxes(range=[-0.04, 1.04], visible=False)
    figure.update_layout(showlegend=False, margin={"l": 24, "t": 52, "b": 16})
    caption = _caption(result, name, len(order), kept, sign)
    return finish(figure, caption, height=440)


def _drawn(score: NDArray[np.float64], kept: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Rows to draw, the best last, so that it lies on top."""
    order = np.lexsort([-score, kept])
    if len(order) <= MOST_LINES:
        return order
    half = MOST_LINES // 2
    rest = order[:-half]
    steps = np.linspace(0, len(rest) - 1, MOST_LINES - half).round().astype(int)
    return np.concatenate([rest[steps], order[-half:]])


def _rulers(figure: go.Figure, axes: list[Axis]) -> None:
    """The axes with their ticks."""
    lines = [
        {
            "type": "line",
            "x0": k,
            "x1": k,
            "y0": 0,
            "y1": 1,
            "line": {"color": MUTED, "width": 1},
        }
        for k in range(len(axes))
    ]
    ticks = [
        {
            "x": k - SIDEWAYS,
            "y": height,
            "text": text,
            "showarrow": False,
            "xanchor": "right",
            "font": {"size": 11, "color": INK},
            "bgcolor": "rgba(255, 255, 255, 0.85)",
            "borderpad": 0,
        }
        for k, axis in enumerate(axes)
        for height, text in _ticks(axis)
    ]
    figure.update_layout(shapes=lines, annotations=ticks)


def _ticks(axis: Axis) -> list[tuple[float, str]]:
    """Heights and texts of ticks."""
    if axis.values:
        where, names = axis.ticks()
        heights = axis.share(np.array(where))
        return list(zip(heights.tolist(), names, strict=True))
    units = np.linspace(0.0, 1.0, 5)
    if axis.log:
        exact = np.geomspace(axis.low, axis.high, 5)
    else:
        exact = np.linspace(axis.low, axis.high, 5)
    if axis.whole:
        exact = np.unique(exact.round())
        units = axis.share(exact)
    return [
        (float(u), general(int(v) if axis.whole else float(v), 3))
        for u, v in zip(units, exact, strict=True)
    ]


def _lines(
    figure: go.Figure,
    axes: list[Axis],
    places: Places,
    trials: NDArray[np.int64],
    kept: NDArray[np.bool_],
) -> None:
    heights = np.stack(
        [axis.share(column) for axis, column in zip(axes, places.T, strict=True)],
        axis=1,
    )
    colours = sample_colorscale(COLOURS, np.clip(heights[:, -1], 0.0, 1.0).tolist())
    x = list(range(len(axes)))
    traces = []
    for row, (line, colour) in enumerate(zip(heights, colours, strict=True)):
        top = row == len(heights) - 1
        shown = [
            f"{label(axis.name)} = {label(axis.shown(place))}"
            for axis, place in zip(axes, places[row], strict=True)
        ]
        traces.append(
            {
                "type": "scatter",
                "x": x,
                "y": line.round(4).tolist(),
                "mode": "lines",
                "line": {
                    "color": ALERT if top else colour,
                    "width": 3.5 if top else 1.2,
                    "dash": "solid" if kept[row] else "dot",
                },
                "opacity": 1.0 if top else 0.7,
                "name": f"trial {trials[row]}",
                "customdata": [[text] for text in shown],
                "hovertemplate": f"trial {trials[row]}<br>%{{customdata[0]}}"
                "<extra></extra>",
            }
        )
    figure.add_traces(traces)


def _bar(figure: go.Figure, name: str, y: NDArray[np.float64]) -> None:
    """The colours of the lines, by a trace without points."""
    low, high = float(y.min()), float(y.max())
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="markers",
        hoverinfo="skip",
        marker={
            "color": [low],
            "cmin": low,
            "cmax": high if high > low else low + 1.0,
            "colorscale": COLOURS,
            "showscale": True,
            "colorbar": colour_bar(name),
        },
    )


def _caption(
    result: OptimizationLike,
    name: str,
    drawn: int,
    kept: NDArray[np.bool_],
    sign: float,
) -> str:
    done, broken = len(kept), int((~kept).sum())
    best = "smallest" if sign > 0 else "largest"
    among = " of those that keep the constraints" if 0 < broken < done else ""
    text = (
        f"Each line is a trial: follow it from the value of one parameter to the next, "
        f"and at the right to its value of {name}, which colours it. Where lines of "
        "one colour run through the same places, these parameters go with such "
        f"values. The thick red line has the {best} value{among}. Axes are "
        "logarithmic where the space says so; choices stand in their order"
    )
    if drawn < done:
        text += f". Drawn are {drawn} of {done} trials, the best half of them"
    if broken:
        text += f". Dotted: {broken} trials that break a constraint on outcomes"
    left_out = len(result.trials) - done
    if left_out:
        text += f". Left out: {left_out} failed trials, which have no value"
    return text + "."
