"""The posterior along each input, with the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors import TransformedPosterior
from botorch.posteriors.fully_bayesian import GaussianMixturePosterior
from plotly import graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from bokern.errors import ShapeError
from bokern.models.outcome_steps import quantiles
from bokern.models.transformed_mixture import TransformedMixturePosterior
from bokern.reporting.observations import Observed, observed
from bokern.reporting.results import ComparisonLike
from bokern.reporting.theme import ACCENT, BAND, MUTED, finish, label

__all__ = ["posterior_slices"]

FINE = 600
COARSE = 121
PANELS_A_ROW = 3
TWO_SD = (0.02275, 0.97725)
"""Levels that a Gaussian has two standard deviations from its mean."""

BAND_NAMES = {False: "± 2 sd", True: "central 95 %"}
"""By whether the outcome transform skews it."""

MIXTURES = (GaussianMixturePosterior, TransformedMixturePosterior)
NEAR = 0.25
"""Distance per other column, in units of the box, at which a point is half-faded."""


def posterior_slices(
    source: ComparisonLike | Model,
    *,
    at: Mapping[str, float] | Sequence[float] | None = None,
    limit: int = 6,
) -> go.Figure:
    """Posterior mean and two standard deviations along each column.

    With one column the whole function is drawn. With more, the others stay at a
    reference point; points fade with their distance from the slice.

    Args:
        source: A comparison, whose best model is drawn, or a fitted model.
        at: The reference point, by column name or in order; by default the
            observed point nearest the median.
        limit: At most so many columns, those along which the mean varies most.

    Returns:
        A figure in raw units.

    Raises:
        ShapeError: If ``at`` lacks a column.
    """
    data = observed(source)
    d = len(data.column_names)
    reference, words = _reference(data, at)
    grid, mean, band, skewed = _posterior(data, reference, FINE if d == 1 else COARSE)
    spread = (mean.amax(1) - mean.amin(1)).numpy()
    shown = sorted(np.argsort(-spread, kind="stable")[: max(limit, 1)])
    across = min(len(shown), PANELS_A_ROW)
    down = -(-len(shown) // across)
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes="all" if d > 1 else False,
        horizontal_spacing=0.04,
        vertical_spacing=0.24 / down if down > 1 else 0,
    )
    for panel, column in enumerate(shown):
        row, col = panel // across + 1, panel % across + 1
        traces = _traces(data, reference, column, grid, mean, band, panel == 0)
        traces[0].name = BAND_NAMES[skewed]
        for trace in traces:
            figure.add_trace(trace, row=row, col=col)
        title = label(data.column_names[column])
        figure.update_xaxes(title={"text": title}, row=row, col=col)
        if col == 1:
            title = label(data.target_name)
            figure.update_yaxes(title={"text": title}, row=row, col=col)
        if d > 1:
            figure.add_vline(
                x=float(reference[column]),
                line={"color": MUTED, "width": 1.5, "dash": "dot"},
                row=row,
                col=col,
            )
    caption = _caption(data, words, len(shown), skewed)
    return finish(figure, caption, height=110 + 270 * down)


def _reference(
    data: Observed, at: Mapping[str, float] | Sequence[float] | None
) -> tuple[Tensor, str]:
    """The point through which the slices go, and what to call it."""
    if at is None:
        low, high = data.bounds
        distance = ((data.X - data.X.median(0).values) / (high - low)).norm(dim=-1)
        return data.X[distance.argmin()], "the observed point nearest the median"
    if isinstance(at, Mapping):
        missing = [name for name in data.column_names if name not in at]
        if missing:
            raise ShapeError(
                f"expected a value for each column, got none for {missing}; "
                "add them to at="
            )
        at = [at[name] for name in data.column_names]
    if len(at) != len(data.column_names):
        raise ShapeError(
            f"expected {len(data.column_names)} values, got {len(at)}; give at= one "
            "value a column"
        )
    point = data.X.new_tensor([float(value) for value in at])
    return point, "the values marked by dotted lines"


def _posterior(
    data: Observed, reference: Tensor, size: int
) -> tuple[Tensor, Tensor, Tensor, bool]:
    """Grid, mean, band, and whether it is skewed, in raw units.

    The band has the two ends first, ``2 x d x size``; the others are ``d x size``.
    """
    first, last = data.bounds.to(reference)
    steps = torch.linspace(0, 1, size).to(reference)
    grid = first[:, None] + (last - first)[:, None] * steps
    d = len(reference)
    points = reference.expand(d, size, d).clone()
    points.diagonal(dim1=0, dim2=2).copy_(grid.T)
    parameter = next(data.model.parameters())
    with torch.no_grad():
        posterior = data.model.posterior(points.to(parameter))
        if isinstance(posterior, MIXTURES):
            mean, variance = posterior.mixture_mean, posterior.mixture_variance
        else:
            mean, variance = posterior.mean, posterior.variance  # type: ignore[attr-defined]
        skewed = isinstance(posterior, TransformedPosterior)
        if skewed:
            band = quantiles(posterior, mean.new_tensor(TWO_SD))
        else:
            sd = variance.clamp_min(0).sqrt()
            band = torch.stack([mean - 2 * sd, mean + 2 * sd])
    band = band.reshape(2, d, size).cpu()
    return grid, mean.reshape(d, size).cpu(), band, skewed


def _traces(
    data: Observed,
    reference: Tensor,
    column: int,
    grid: Tensor,
    mean: Tensor,
    band: Tensor,
    first: bool,
) -> list[go.Scatter]:
    x, m = grid[column].numpy(), mean[column].numpy()
    low, high = band[:, column].numpy()
    opacity = _nearness(data, reference, column)
    return [
        go.Scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([low, high[::-1]]),
            fill="toself",
            fillcolor=BAND,
            line={"width": 0},
            hoverinfo="skip",
            name=BAND_NAMES[False],
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
            x=data.X[:, column].numpy(),
            y=data.y.numpy(),
            mode="markers",
            marker={"color": MUTED, "size": 5, "opacity": opacity},
            name="data",
            legendgroup="data",
            showlegend=first,
        ),
    ]


def _nearness(data: Observed, reference: Tensor, column: int) -> list[float]:
    """Opacity of each point: 1 on the slice, less the further from it."""
    low, high = data.bounds
    away = (data.X - reference) / (high - low)
    others = [index for index in range(len(reference)) if index != column]
    if not others:
        return [0.9] * len(data.X)
    distance = away[:, others].square().mean(-1)
    weight = torch.exp2(-distance / NEAR**2)
    return (0.12 + 0.78 * weight).tolist()


def _caption(data: Observed, words: str, shown: int, skewed: bool) -> str:
    structure = getattr(data.model, "structure", None)
    of = f" of the model {structure}" if structure is not None else ""
    width = "the central 95 %" if skewed else "two standard deviations"
    text = (
        f"Posterior mean{of} (line) with {width} of the noise-free "
        f"function (band), and the {len(data.y)} observations, in the units of the data"
    )
    d = len(data.column_names)
    if d == 1:
        return text + "."
    text += f". The other columns stay at {words}; points fade with distance from the"
    text += " slice"
    if shown < d:
        text += f". Shown are the {shown} of {d} columns along which the mean varies "
        text += "most"
    return text + "."
