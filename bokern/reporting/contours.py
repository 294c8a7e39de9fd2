"""The posterior mean over two parameters, with the observations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from bokern.errors import InputError
from bokern.reporting.axes import Axis
from bokern.reporting.digits import general
from bokern.reporting.observations import Observed
from bokern.reporting.predicting import predicted_mean
from bokern.reporting.sensitivity import sensitivity
from bokern.reporting.slices import At, reference_of
from bokern.reporting.surrogate import Source, modelled
from bokern.reporting.theme import COLOURS, colour_bar, finish, label

__all__ = ["posterior_contours"]

SIZE = 41
"""Places along each axis."""


def posterior_contours(
    source: Source,
    parameters: Sequence[str] | None = None,
    *,
    at: At | None = None,
    outcome: str | None = None,
) -> go.Figure:
    """Posterior mean over two parameters, the others staying at a reference point.

    The observations lie on it, in the same colours; they fade with their distance from
    the plane that is drawn. Over a choice, cells take the place of contours.

    Args:
        source: Whose model is drawn; see ``bokern.plot.modelled``.
        parameters: Names of the two, for the horizontal and the vertical axis; the two
            with the largest total Sobol' indices by default.
        at: The reference point, by name or in order; by default the best trial of an
            optimisation, else the observed point nearest the median.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure in raw units.

    Raises:
        InputError: If there is one parameter only, or two different ones are not named.
        ShapeError: If ``at`` lacks a parameter.
    """
    data = modelled(source, outcome)
    i, j = _pair(data, parameters)
    reference, words = reference_of(data, at)
    x, y = data.axes[i].grid(SIZE), data.axes[j].grid(SIZE)
    places = np.tile(reference, (len(y), len(x), 1))
    places[..., i], places[..., j] = x, y[:, None]
    mean = predicted_mean(data, places.reshape(-1, len(data.axes)))
    figure = go.Figure()
    z = mean.reshape(len(y), len(x))
    span = {"zmin": float(z.min()), "zmax": float(z.max())}
    figure.add_trace(_surface(data, (i, j), x, y, z, span))
    _points(figure, data, (i, j), reference, span)
    for axis, update in ((i, figure.update_xaxes), (j, figure.update_yaxes)):
        update(**{**_limits(data.axes[axis]), **data.axes[axis].layout}, showgrid=False)
    return finish(figure, _caption(data, (i, j), words, reference), height=480)


def _pair(data: Observed, parameters: Sequence[str] | None) -> tuple[int, int]:
    names = [axis.name for axis in data.axes]
    if len(names) < 2:
        raise InputError(
            f"expected two parameters or more, got {names}; slices show a function of "
            "one"
        )
    if parameters is None:
        if len(names) == 2:
            return 0, 1
        total = sensitivity(data).total
        first, second = np.argsort(-total, kind="stable")[:2]
        return int(first), int(second)
    if isinstance(parameters, str) or len(parameters) != 2:
        raise InputError(
            f"expected the names of two parameters, got {parameters!r:.80}"
        )
    i, j = (data.axis(name) for name in parameters)
    if i == j:
        raise InputError(f"expected two different parameters, got {parameters!r:.80}")
    return i, j


def _surface(
    data: Observed,
    pair: tuple[int, int],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    z: NDArray[np.float64],
    span: dict[str, float],
) -> go.Contour | go.Heatmap:
    """Contours, or cells where an axis has values with nothing between them."""
    shared = {
        "x": x,
        "y": y,
        "z": z,
        "colorscale": COLOURS,
        "colorbar": colour_bar(data.target_name),
        "name": "posterior mean",
        "hovertemplate": "%{z:.5g}<extra>posterior mean</extra>",
        **span,
    }
    if any(data.axes[k].values for k in pair):
        return go.Heatmap(**shared)
    return go.Contour(
        **shared,
        ncontours=16,
        contours={"coloring": "heatmap"},
        line={"width": 0.6, "color": "rgba(255, 255, 255, 0.6)"},
    )


def _points(
    figure: go.Figure,
    data: Observed,
    pair: tuple[int, int],
    reference: NDArray[np.float64],
    span: dict[str, float],
) -> None:
    i, j = pair
    shown = [
        f"{label(data.axes[i].name)} = {label(data.axes[i].shown(a))}<br>"
        f"{label(data.axes[j].name)} = {label(data.axes[j].shown(b))}"
        for a, b in data.places[:, [i, j]]
    ]
    y = data.y.numpy()
    figure.add_scatter(
        x=data.places[:, i],
        y=data.places[:, j],
        mode="markers",
        marker={
            "size": 8,
            "color": y,
            "cmin": span["zmin"],
            "cmax": span["zmax"],
            "colorscale": COLOURS,
            "line": {"width": 1.2, "color": "#ffffff"},
            "opacity": data.nearness(reference, pair, faintest=0.4),
        },
        customdata=[
            [text, general(float(v), 5)] for text, v in zip(shown, y, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>observed %{customdata[1]}<extra></extra>",
        name="observed",
        showlegend=False,
    )
    figure.add_scatter(
        x=[reference[i]],
        y=[reference[j]],
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 17,
            "color": "#ffffff",
            "line": {"width": 2.5},
        },
        name="best trial" if data.best is not None else "reference point",
        hoverinfo="skip",
        showlegend=False,
    )


def _limits(axis: Axis) -> dict[str, object]:
    """The whole axis, without a margin."""
    low, high = axis.low, axis.high
    return {"range": list(np.log10([low, high])) if axis.log else [low, high]}


def _caption(
    data: Observed,
    pair: tuple[int, int],
    words: str,
    reference: NDArray[np.float64],
) -> str:
    others = [
        f"{axis.name} = {axis.shown(reference[k])}"
        for k, axis in enumerate(data.axes)
        if k not in pair
    ]
    text = (
        f"What the model expects of {data.target_name} over "
        f"{data.axes[pair[0]].name} and {data.axes[pair[1]].name}: its posterior mean, "
        f"in the units of the data, and the {len(data.y)} observations in the same "
        "colours; where a point stands out from its ground, the model smooths over it "
        "or the point lies far from the plane. "
    )
    text += f"The ring marks {words.replace('values marked by dotted lines', 'point')}"
    if others:
        text += f", where the other parameters stay ({', '.join(others)}); points fade "
        text += "with distance from that plane"
    return f"{text}. {data.remark}".strip()
