"""What a learned warp makes of a parameter, and of the data over it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from plotly import graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from bokern.errors import BokernError, InputError
from bokern.kernels import UNIFORM, WarpKernel
from bokern.reporting.digits import general
from bokern.reporting.kernel_part import KernelPart, part_of
from bokern.reporting.observations import Observed
from bokern.reporting.predicting import Predicted, predicted
from bokern.reporting.slices import (
    At,
    along,
    band_and_mean,
    observed_along,
    reference_of,
)
from bokern.reporting.surrogate import Source, modelled
from bokern.reporting.theme import (
    COLOURS,
    GENERATOR_COLOURS,
    INK,
    MUTED,
    finish,
    label,
    shade,
)

__all__ = ["has_warp", "learned_warp"]

FINE = 400
TITLES = ("data", "warp", "data after the warp", "prediction")
ENTRIES = 2**21
"""Numbers that are held at a time while observations are warped."""

Part = KernelPart[WarpKernel]


def learned_warp(
    source: Source,
    *,
    parameter: str | int | None = None,
    layer: int | None = None,
    at: At | None = None,
    outcome: str | None = None,
) -> go.Figure:
    """What the learned warp of a structure such as ``SSWIM()`` makes of a parameter.

    The data; what the parameter is multiplied by, and what is added to it; the data
    over what comes out, in which the kernel is stationary; and the prediction.

    Args:
        source: Whose model is drawn; see ``bokern.plot.modelled``.
        parameter: Which one, by name or in order from 0; by default the one that the
            warp moves most, in lengthscales.
        layer: Of several, the one whose functions are drawn, from 1; by default all.
        at: Where other parameters stay, by name or in order; by default the best trial
            of an optimisation, else the observed point nearest the median.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure of four panels; warped parameters are in standard deviations of
        uniform ones about the box's centre.

    Raises:
        InputError: If the model has no such part on the parameters themselves, it has
            no such layer, or reads no such parameter, or as an unordered choice.
        ShapeError: If ``at`` lacks a parameter.
    """
    data = modelled(source, outcome)
    part = _part(data)
    seen = _bends(data, part, data.places)
    if layer is not None and layer not in range(1, len(seen) + 1):
        raise InputError(f"expected a layer from 1 to {len(seen)}, got {layer!r:.60}")
    column = _column(data, part, parameter, seen)
    reference, words = reference_of(data, at)
    i = part.axes[column]
    grid, places = along(data, reference, i, FINE)
    curve = predicted(data, places)
    scale = _scale(part)[column]
    figure = make_subplots(
        rows=2,
        cols=2,
        subplot_titles=TITLES,
        horizontal_spacing=0.11,
        vertical_spacing=0.2,
    )
    figure.add_scatter(
        x=data.places[:, i], **_points(data, i), name="data", row=1, col=1
    )
    _functions(figure, data, i, grid, _bends(data, part, places), column, layer)
    _after(figure, data, i, seen[-1].outputs[..., column], scale)
    _prediction(figure, data, reference, i, grid, curve)
    _label(figure, data, i)
    # Above the titles, which stand where the legends of other figures do.
    legend = {"x": 1, "xanchor": "right", "y": 1.07}
    figure.update_layout(legend=legend, margin={"t": 88})
    caption = _caption(data, i, words, len(seen), layer, scale, curve.skewed)
    return finish(figure, caption, height=640)


def has_warp(source: Source, outcome: str | None = None) -> bool:
    """Whether there is one that `learned_warp` draws."""
    try:
        data = modelled(source, outcome)
        return bool(_drawable(data, _part(data)))
    except BokernError:
        return False


# -- what the kernel does ------------------------------------------------------------


class _Bend(NamedTuple):
    """Mean and standard deviation of what a layer does, each ``2 x n x columns``."""

    gain: NDArray[np.float64]
    shift: NDArray[np.float64]
    inputs: NDArray[np.float64]
    outputs: NDArray[np.float64]


def _part(data: Observed) -> Part:
    return part_of(data, WarpKernel, "SSWIM()")  # type: ignore[type-abstract]


def _scale(part: Part) -> NDArray[np.float64]:
    """Lengthscales of the columns, in units of warped ones."""
    scale = UNIFORM * part.kernel.lengthscale
    found: NDArray[np.float64] = scale.detach().double().cpu().reshape(-1).numpy()
    return found


def _bends(data: Observed, part: Part, places: NDArray[np.float64]) -> list[_Bend]:
    """What each layer does at places, m x p."""
    given = part.inputs(data, places)
    step = max(1, ENTRIES // part.kernel.row_size)
    with torch.no_grad():
        blocks = [
            [
                [_moments(law, bend.outputs.mean) for law in bend]
                for bend in part.kernel.bends(block)
            ]
            for block in given.split(step)
        ]
    return [
        _Bend(*(np.concatenate(laws, axis=1) for laws in zip(*bends, strict=True)))
        for bends in zip(*blocks, strict=True)
    ]


def _moments(law: tuple[Tensor, Tensor | None], like: Tensor) -> NDArray[np.float64]:
    mean, variance = law
    spread = torch.zeros_like(mean) if variance is None else variance.sqrt()
    both = torch.stack([mean.expand_as(like), spread.expand_as(like)])
    found: NDArray[np.float64] = both.double().cpu().numpy()
    return found


def _drawable(data: Observed, part: Part) -> list[int]:
    """Columns, as the kernel counts them, that are parameters by themselves."""
    return [k for k, i in enumerate(part.axes) if len(data.axes[i].columns) == 1]


def _column(
    data: Observed, part: Part, parameter: str | int | None, seen: list[_Bend]
) -> int:
    """The column that is drawn, as the kernel counts them."""
    drawable = _drawable(data, part)
    names = {k: data.axes[part.axes[k]].name for k in drawable}
    if parameter is None and drawable:
        moved = seen[-1].outputs[0] - seen[0].inputs[0]
        # A shift that is the same everywhere changes nothing.
        far = moved.std(axis=0) / _scale(part)
        return max(drawable, key=lambda k: far[k])
    for k in drawable:
        by_number = isinstance(parameter, int) and parameter == part.axes[k]
        if by_number or parameter == names[k]:
            return k
    raise InputError(
        "expected a number or an ordered choice that the warp reads, one of "
        f"{list(names.values())}, got {parameter!r:.60}"
    )


# -- panels --------------------------------------------------------------------------


def _points(data: Observed, i: int) -> dict[str, object]:
    """Observations in the same colours before the warp and after it."""
    return {
        "mode": "markers",
        "marker": {
            "size": 5,
            "opacity": 0.9,
            "color": data.axes[i].share(data.places[:, i]),
            "colorscale": COLOURS,
            "cmin": 0.0,
            "cmax": 1.0,
        },
        "y": data.y.numpy(),
        "showlegend": False,
    }


def _functions(
    figure: go.Figure,
    data: Observed,
    i: int,
    grid: NDArray[np.float64],
    bends: list[_Bend],
    column: int,
    layer: int | None,
) -> None:
    for number, bend in enumerate(bends, start=1):
        if layer not in (None, number):
            continue
        of = f", layer {number}" if len(bends) > 1 else ""
        pairs = (("times ĝ", bend.gain), ("plus ĥ", bend.shift))
        for which, (name, (mean, sd)) in enumerate(pairs):
            m, s = mean[:, column], sd[:, column]
            colour = GENERATOR_COLOURS[
                (2 * (number - 1) + which) % len(GENERATOR_COLOURS)
            ]
            curve = Predicted(m, m - 2 * s, m + 2 * s, skewed=False)
            band, line = band_and_mean(data.axes[i], grid, curve, colour)
            group = {"name": f"{name}{of}", "legendgroup": f"{name}{of}"}
            band.update(**group, hoverinfo="skip", showlegend=False)
            figure.add_traces([band, line.update(**group)], rows=1, cols=2)
    for still in (0.0, 1.0):
        figure.add_hline(
            y=still, line={"color": MUTED, "width": 1, "dash": "dot"}, row=1, col=2
        )


def _after(
    figure: go.Figure,
    data: Observed,
    i: int,
    outputs: NDArray[np.float64],
    scale: float,
) -> None:
    """Observations over the warped parameter, with a bar of one lengthscale."""
    mean, sd = outputs
    figure.add_scatter(
        x=mean,
        error_x={
            "array": sd,
            "color": shade(MUTED, 0.35),
            "thickness": 1,
            "width": 0,
        },
        **_points(data, i),
        name="data after the warp",
        row=2,
        col=1,
    )
    if scale < np.ptp(mean):
        _scale_bar(figure, float(mean.min()), scale)


def _scale_bar(figure: go.Figure, left: float, scale: float) -> None:
    where = {"xref": "x3", "yref": "y3 domain"}
    figure.add_shape(
        type="line",
        x0=left,
        x1=left + scale,
        y0=0.04,
        y1=0.04,
        line={"color": INK, "width": 3},
        name="lengthscale",
        **where,
    )
    figure.add_annotation(
        x=left + scale,
        y=0.04,
        text="lengthscale",
        showarrow=False,
        xanchor="left",
        xshift=4,
        yanchor="middle",
        font={"size": 11},
        **where,
    )


def _prediction(
    figure: go.Figure,
    data: Observed,
    reference: NDArray[np.float64],
    i: int,
    grid: NDArray[np.float64],
    curve: Predicted,
) -> None:
    band, mean = band_and_mean(data.axes[i], grid, curve)
    band.update(name="band", hoverinfo="skip", showlegend=False)
    mean.update(name="posterior mean", showlegend=False)
    points = observed_along(data, reference, i, first=False)
    figure.add_traces([band, mean, points], rows=2, cols=2)


def _label(figure: go.Figure, data: Observed, i: int) -> None:
    axis, target = data.axes[i], label(data.target_name)
    for row, col in ((1, 1), (1, 2), (2, 2)):
        figure.update_xaxes(**axis.layout, row=row, col=col)
    figure.update_xaxes(title={"text": f"warped {label(axis.name)}"}, row=2, col=1)
    for row, col in ((1, 1), (2, 1), (2, 2)):
        figure.update_yaxes(title={"text": target}, row=row, col=col)
    if not axis.values:  # These have a range already, and plotly stumbles over both.
        figure.update_xaxes(matches="x", col=2)
    figure.update_yaxes(matches="y", row=2)


def _caption(
    data: Observed,
    i: int,
    words: str,
    layers: int,
    layer: int | None,
    scale: float,
    skewed: bool,
) -> str:
    name, p = data.axes[i].name, len(data.axes)
    of = f" by the model {data.described}" if data.described else ""
    each = "" if layers == 1 else f", of each of {layers} layers, one after the other"
    if layer is not None and layers > 1:
        each = f", of layer {layer} of {layers}"
    width = "the central 95 %" if skewed else "two standard deviations"
    text = (
        f"The warp of {name}{of}, in standard deviations of a uniform {name} about the "
        f"box's centre. Data: the {len(data.y)} observations, coloured by {name}. "
        f"Warp: ĝ, by which {name} is multiplied, and ĥ, which is added{each}, means "
        f"(lines) and two standard deviations (bands); dotted, 1 and 0, which leave it "
        f"as it is. Data after the warp: the observations, in the same colours, each "
        f"with a standard deviation of its warped {name} (bars); there the function "
        f"varies alike everywhere, with a lengthscale of {general(scale, 2)}. "
        f"Prediction: the posterior mean (line) with {width} of the noise-free "
        "function (band), in the units of the data"
    )
    if p > 1:
        text += (
            f". In curves, the others of {p} parameters stay at {words}; points fade "
            "with distance from the slice of the prediction, and are warped at their "
            "own parameters"
        )
    return f"{text}. {data.remark}".strip()
