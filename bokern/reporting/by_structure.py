"""The same data under several structures."""

from __future__ import annotations

from typing import Any

import numpy as np
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from bokern.errors import InputError
from bokern.reporting.digits import percent
from bokern.reporting.observations import of_comparison, of_model
from bokern.reporting.predicting import predicted
from bokern.reporting.results import ComparisonLike
from bokern.reporting.slices import (
    COARSE,
    FINE,
    At,
    along,
    observed_along,
    reference_of,
)
from bokern.reporting.theme import GENERATOR_COLOURS, finish, label

__all__ = ["structure_posteriors"]

PANELS_A_ROW = 3
LONGEST_NAME = 60


def structure_posteriors(
    found: ComparisonLike,
    *,
    structures: int = 4,
    at: At | None = None,
    limit: int = 3,
) -> go.Figure:
    """Posterior mean of each of the most probable structures, along each column.

    Args:
        found: A comparison.
        structures: How many, the most probable first.
        at: The point at which the other columns stay, by name or in order; by default
            the observed point nearest the median.
        limit: At most so many columns, those along which a mean varies most.

    Returns:
        A figure in raw units, a line for each structure.

    Raises:
        InputError: If it is no comparison.
        ShapeError: If ``at`` lacks a column.
    """
    if not isinstance(found, ComparisonLike):
        raise InputError(
            f"expected a comparison, got {type(found).__name__}; pass what "
            "bokern.compare or bokern.search returns"
        )
    data = of_comparison(found)
    d = len(data.axes)
    reference, words = reference_of(data, at)
    texts = [str(text) for text in found.table["structure"][: max(structures, 1)]]
    models: list[Any] = [found.model(text) for text in texts]
    places = [along(data, reference, i, FINE if d == 1 else COARSE) for i in range(d)]
    curves = [
        [predicted(of_model(model), cut).mean for _, cut in places] for model in models
    ]
    spread = np.array([[np.ptp(mean) for mean in mine] for mine in curves]).max(0)
    shown = sorted(np.argsort(-spread, kind="stable")[: max(limit, 1)])
    figure = make_subplots(
        rows=1, cols=len(shown), shared_yaxes=d > 1, horizontal_spacing=0.04
    )
    for col, i in enumerate(shown, start=1):
        points = observed_along(data, reference, i, first=col == 1)
        figure.add_trace(points, row=1, col=col)
        for k, mine in enumerate(curves):
            figure.add_scatter(
                x=places[i][0],
                y=mine[i],
                mode="lines",
                line={
                    "color": GENERATOR_COLOURS[k % len(GENERATOR_COLOURS)],
                    "width": 2.5 if k == 0 else 1.6,
                },
                name=label(texts[k], LONGEST_NAME),
                legendgroup=str(k),
                showlegend=col == 1,
                row=1,
                col=col,
            )
        figure.update_xaxes(**data.axes[i].layout, row=1, col=col)
    figure.update_yaxes(title={"text": label(data.target_name)}, row=1, col=1)
    share = sum(float(p) for p in found.table["probability"][: len(texts)])
    caption = (
        f"Posterior mean of the {len(texts)} most probable structures, which have "
        f"{percent(share)} of the probability, and the {len(data.y)} observations, in "
        "the units of the data. Where the lines part, the data have not decided what "
        "the structures disagree on"
    )
    if d > 1:
        caption += f". The other columns stay at {words}; points fade with distance "
        caption += "from the slice"
    if len(shown) < d:
        caption += f". Shown are {len(shown)} of {d} columns"
    return finish(figure, caption + ".", height=400)
