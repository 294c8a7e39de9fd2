"""Which parameters matter, by the model."""

from __future__ import annotations

import numpy as np
from plotly import graph_objects as go

from bokern.reporting.digits import general
from bokern.reporting.observations import Observed
from bokern.reporting.sensitivity import Sensitivity, sensitivity
from bokern.reporting.surrogate import Source, modelled
from bokern.reporting.theme import ACCENT, BAND, finish, label

__all__ = ["parameter_importances"]

LONGEST_TICK = 30


def parameter_importances(source: Source, *, outcome: str | None = None) -> go.Figure:
    """First-order and total Sobol' indices of the posterior mean, the largest first.

    Args:
        source: Whose model is asked; see ``bokern.plot.modelled``.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure in per cent of the variance of the mean over the whole space.

    Raises:
        DataError: If the mean is the same everywhere.
    """
    data = modelled(source, outcome)
    found = sensitivity(data)
    order = np.argsort(-found.total, kind="stable")
    rows = np.arange(len(order))
    names = [label(data.axes[k].name, LONGEST_TICK) for k in order]
    figure = go.Figure()
    for values, name, colour, width in (
        (found.total, "total, with interactions", BAND, 0.7),
        (found.first, "first order, by itself", ACCENT, 0.3),
    ):
        percent = 100.0 * values[order]
        figure.add_bar(
            y=rows,
            x=percent,
            orientation="h",
            width=width,
            name=name,
            marker={"color": colour, "line": {"width": 0}},
            text=[f"{v:.1f} %" for v in percent] if colour == BAND else None,
            textposition="outside" if colour == BAND else None,
            cliponaxis=False,
            customdata=[[n, f"{v:.1f} %"] for n, v in zip(names, percent, strict=True)],
            hovertemplate="%{customdata[0]}: %{customdata[1]}"
            f"<extra>{name}</extra>",
        )
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(
        title={"text": f"share of the variance of {label(data.target_name)} (%)"},
        range=[0.0, max(1.0, 112.0 * float(found.total.max()))],
    )
    figure.update_yaxes(
        tickvals=rows,
        ticktext=names,
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
        ticks="",
    )
    return finish(figure, _caption(data, found), height=130 + 38 * len(rows))


def _caption(data: Observed, found: Sensitivity) -> str:
    alone = min(100.0, 100.0 * float(found.first.sum()))
    return (
        "How much each parameter matters over the whole space: Sobol' indices of the "
        f"posterior mean of the model {data.described}, fitted to {len(data.y)} "
        "observations. Narrow bars: the share of the variance that a parameter "
        "explains by itself (first order); wide bars and figures: with all "
        "interactions in which it takes part (total), so that these may add up to "
        f"more than 100 %. By themselves they explain {alone:.0f} %, the rest is "
        "interaction. Parameters are uniform, on a log scale where it is declared; the "
        f"mean varies with a standard deviation of {general(found.sd, 3)}. It is what "
        "the model believes: a parameter that it has not seen move can look "
        f"unimportant. {data.remark}"
    ).strip()
