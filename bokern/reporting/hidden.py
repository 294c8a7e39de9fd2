"""The hidden functions of a deep structure, and the space that they make of the box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from bokern.errors import BokernError, InputError
from bokern.kernels import ConditionalDeepKernel
from bokern.reporting.axes import Axis
from bokern.reporting.kernel_part import KernelPart, part_of
from bokern.reporting.observations import Observed
from bokern.reporting.predicting import Predicted, predicted, predicted_mean
from bokern.reporting.slices import At, along, band_and_mean, reference_of
from bokern.reporting.surrogate import Source, modelled
from bokern.reporting.theme import (
    ACCENT,
    ALERT,
    COLOURS,
    GENERATOR_COLOURS,
    INK,
    MUTED,
    finish,
    label,
)

__all__ = ["has_hidden_functions", "hidden_functions"]

FINE, COARSE = 400, 41
LINES = 13
"""Of the grid that is drawn bent, along each parameter."""

Places = NDArray[np.float64]


def hidden_functions(
    source: Source, *, at: At | None = None, outcome: str | None = None
) -> go.Figure:
    """The hidden functions of a conditional deep structure of one or two parameters.

    Left: what is believed of them, and where they are given values. Middle: the data
    in the space that they make of the box, in which the function is stationary; of two
    parameters, the box's grid bent into it. Right: what the model predicts.

    Args:
        source: Whose model is drawn; see ``bokern.plot.modelled``.
        at: Where other parameters stay, by name or in order; by default the best trial
            of an optimisation, else the observed point nearest the median.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure of three panels; hidden functions are in units of the outer
        lengthscale.

    Raises:
        InputError: If the model has no such part, or its first one reads warped
            parameters, an unordered choice, or more than two.
    """
    data = modelled(source, outcome)
    layer = _layer(data)
    reference, _ = reference_of(data, at)
    figure = make_subplots(
        cols=3,
        subplot_titles=("hidden functions", "the space they make", "prediction"),
        horizontal_spacing=0.09,
    )
    draw = _line if len(layer.axes) == 1 else _plane
    draw(figure, data, layer, reference)
    return finish(figure, _caption(data, layer), height=400)


def has_hidden_functions(source: Source, outcome: str | None = None) -> bool:
    """Whether there are any that `hidden_functions` draws."""
    try:
        _layer(modelled(source, outcome))
    except BokernError:
        return False
    return True


Layer = KernelPart[ConditionalDeepKernel]


def _layer(data: Observed) -> Layer:
    layer = part_of(data, ConditionalDeepKernel, "ConditionalDeep()")
    plain = all(len(data.axes[i].columns) == 1 for i in layer.axes)
    if not plain or len(layer.axes) > 2:
        raise InputError(
            "expected hidden functions of one or two numbers, got of "
            f"{[data.axes[i].name for i in dict.fromkeys(layer.axes)]}"
        )
    return layer


def _latent(data: Observed, layer: Layer, places: Places) -> tuple[Places, Places]:
    """Means, m x H, and standard deviation, m, at places, m x p."""
    mean, variance = layer.kernel.latent(layer.inputs(data, places))
    return mean.detach().cpu().numpy(), variance.detach().sqrt().cpu().numpy()


def _given(data: Observed, layer: Layer, reference: Places) -> Places:
    """Where values are given, J x p."""
    if layer.kernel.hyperdata is None:
        return np.empty((0, len(reference)))
    units = layer.kernel.hyperdata.places.detach().cpu().numpy()
    places = np.tile(reference, (len(units), 1))
    for column, i in zip(layer.columns, layer.axes, strict=True):
        low, high = data.bounds[:, column].tolist()
        value = low + (high - low) * units[:, column]
        places[:, i] = 10.0**value if data.axes[i].log else value
    return places


# -- one parameter -------------------------------------------------------------------


def _line(figure: go.Figure, data: Observed, layer: Layer, reference: Places) -> None:
    (i,) = layer.axes
    grid, places = along(data, reference, i, FINE)
    mean, sd = _latent(data, layer, places)
    given = _given(data, layer, reference)
    at_given, _ = _latent(data, layer, given) if len(given) else (given, given)
    for h, f in enumerate(mean.T):
        colour = GENERATOR_COLOURS[h % len(GENERATOR_COLOURS)]
        curve = Predicted(f, f - 2 * sd, f + 2 * sd, skewed=False)
        _curve(figure, data.axes[i], grid, curve, colour, 1)
        if len(given):
            _markers(figure, given[:, i], at_given[:, h], 1, "given", colour)
    seen, _ = _latent(data, layer, data.places)
    y = data.y.numpy()
    _markers(figure, seen[:, 0], y, 2)
    _curve(figure, data.axes[i], grid, predicted(data, places), ACCENT, 3)
    _markers(figure, data.places[:, i], y, 3)
    target = label(data.target_name)
    for col in (1, 3):
        figure.update_xaxes(**data.axes[i].layout, col=col)
    figure.update_xaxes(title={"text": "hidden function"}, col=2)
    figure.update_yaxes(title={"text": "hidden function"}, col=1)
    figure.update_yaxes(title={"text": target}, col=2)
    figure.update_yaxes(title={"text": target}, col=3)


def _curve(
    figure: go.Figure,
    axis: Axis,
    grid: Places,
    curve: Predicted,
    colour: str,
    col: int,
) -> None:
    band, mean = band_and_mean(axis, grid, curve, colour)
    band.update(hoverinfo="skip", showlegend=False)
    mean.update(showlegend=False)
    figure.add_traces([band, mean], rows=1, cols=col)


def _markers(
    figure: go.Figure,
    x: Places,
    y: Places,
    col: int,
    name: str = "data",
    colour: str | Places = MUTED,
) -> None:
    """Observations, in the colours of their values if given; or where latents are."""
    marker: dict[str, object] = {"color": colour, "size": 5}
    if name == "given" or not isinstance(colour, str):
        marker |= {"size": 9, "line": {"color": "#ffffff", "width": 1.2}}
    if name == "given":
        marker |= {"symbol": "diamond"}
    if not isinstance(colour, str):
        marker |= {"colorscale": COLOURS}
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker=marker,
        name=name,
        showlegend=False,
        row=1,
        col=col,
    )


# -- two parameters ------------------------------------------------------------------


def _plane(figure: go.Figure, data: Observed, layer: Layer, reference: Places) -> None:
    i, j = layer.axes
    x, y = data.axes[i].grid(COARSE), data.axes[j].grid(COARSE)
    places = np.tile(reference, (len(y), len(x), 1))
    places[..., i], places[..., j] = x, y[:, None]
    flat = places.reshape(-1, len(data.axes))
    mean, sd = _latent(data, layer, flat)
    shape = (len(y), len(x))
    given = _given(data, layer, reference)
    _surface(figure, x, y, sd.reshape(shape), "Greys", 1)
    if len(given):
        _markers(figure, given[:, i], given[:, j], 1, "given", ALERT)
    seen, _ = _latent(data, layer, data.places)
    target = data.y.numpy()
    if mean.shape[1] > 1:
        bent = mean.reshape(*shape, -1)
        for k in np.linspace(0, len(x) - 1, LINES).astype(int):
            _thread(figure, bent[:, k, 0], bent[:, k, 1])
        for k in np.linspace(0, len(y) - 1, LINES).astype(int):
            _thread(figure, bent[k, :, 0], bent[k, :, 1])
        _markers(figure, seen[:, 0], seen[:, 1], 2, colour=target)
        words = ("first hidden function", "second hidden function")
    else:
        _markers(figure, seen[:, 0], target, 2)
        words = ("hidden function", label(data.target_name))
    _surface(figure, x, y, predicted_mean(data, flat).reshape(shape), COLOURS, 3)
    _markers(figure, data.places[:, i], data.places[:, j], 3, colour=target)
    for col in (1, 3):
        figure.update_xaxes(**_whole(data.axes[i]), showgrid=False, col=col)
        figure.update_yaxes(**_whole(data.axes[j]), showgrid=False, col=col)
    figure.update_xaxes(title={"text": words[0]}, col=2)
    figure.update_yaxes(title={"text": words[1]}, col=2)


def _whole(axis: Axis) -> dict[str, object]:
    low, high = axis.low, axis.high
    ends = list(np.log10([low, high])) if axis.log else [low, high]
    return {"range": ends, **axis.layout}


def _surface(
    figure: go.Figure, x: Places, y: Places, z: Places, colours: str, col: int
) -> None:
    figure.add_contour(
        x=x,
        y=y,
        z=z,
        colorscale=colours,
        showscale=False,
        ncontours=16,
        contours={"coloring": "heatmap"},
        line={"width": 0.6, "color": "rgba(255, 255, 255, 0.6)"},
        hovertemplate="%{z:.4g}<extra></extra>",
        row=1,
        col=col,
    )


def _thread(figure: go.Figure, x: Places, y: Places) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": INK, "width": 1},
        opacity=0.6,
        hoverinfo="skip",
        showlegend=False,
        row=1,
        col=2,
    )


def _caption(data: Observed, layer: Layer) -> str:
    names = " and ".join(data.axes[i].name for i in layer.axes)
    of = f" of the model {data.described}" if data.described else ""
    if len(layer.axes) == 1:
        left = (
            "their means (lines), two standard deviations (band) and the places at "
            "which they are given values (diamonds)"
        )
    else:
        left = (
            "their standard deviation, darker where they are less certain, and the "
            "places at which they are given values (diamonds)"
        )
    middle = "the observations against the first hidden function"
    if len(layer.axes) == 2 and layer.kernel.width > 1:
        middle = "the observations in the plane of the first two, and the box's grid"
    return (
        f"Hidden functions of {names}{of}, in units of the outer lengthscale. Left: "
        f"{left}. Middle: {middle}; where they stretch, the function varies fast. "
        f"Right: the posterior mean and the {len(data.y)} observations, in the units "
        f"of the data. {data.remark}"
    ).strip()
