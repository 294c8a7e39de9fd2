"""Log evidences side by side: which structure the data support, and by how much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from plotly import graph_objects as go

from bokern.errors import BokernError, InputError
from bokern.evidence import AVERAGE_WITHIN
from bokern.reporting.digits import nats
from bokern.reporting.results import (
    ComparisonLike,
    OptimizationLike,
    StudyLike,
    optimization_of,
)
from bokern.reporting.theme import LONGEST_LABEL, MUTED, family_colour, finish, label
from bokern.structures import parse

__all__ = ["evidence_bars"]

LONGEST_TICK = 60


def evidence_bars(
    source: ComparisonLike | OptimizationLike | StudyLike, *, outcome: str | None = None
) -> go.Figure:
    """Log evidence of each structure relative to the highest, with its error.

    Args:
        source: A comparison, or an optimisation or a study, of which the structures
            compared last are drawn.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure in nats, coloured by family; hollow markers carry flags, which an
        optimisation does not keep.

    Raises:
        InputError: If an optimisation compared no structures for the outcome.
    """
    if isinstance(source, ComparisonLike):
        table = source.table.reset_index(drop=True)
    else:
        table = _compared_last(optimization_of(source), outcome)
    gap = table["gap"].to_numpy(dtype=float)
    gap = gap - gap.max(initial=0.0)
    error = np.nan_to_num(table["standard_error"].to_numpy(dtype=float))
    figure = go.Figure()
    figure.add_vrect(
        x0=-AVERAGE_WITHIN, x1=0, fillcolor="rgba(110, 119, 129, 0.14)", line_width=0
    )
    for family in dict.fromkeys(table["family"]):
        mine = np.flatnonzero((table["family"] == family).to_numpy())
        _add_family(figure, family, table.loc[mine], gap[mine], error[mine])
    for row, flags in enumerate(table["flags"]):
        words = ["" if row else "best", nats(gap[row]) if gap[row] else "", str(flags)]
        figure.add_annotation(
            x=1.0,
            xref="paper",
            xanchor="left",
            xshift=10,
            y=row,
            text=label(" ".join(filter(None, words))),
            showarrow=False,
            font={"color": MUTED, "size": 12},
        )
    longest = max((len(str(flags)) for flags in table["flags"]), default=0)
    lowest = float((gap - error).min(initial=-AVERAGE_WITHIN))
    figure.update_layout(
        barmode="overlay",
        margin={"r": 60 + 8 * min(longest, LONGEST_LABEL)},
        xaxis={
            "title": {"text": "log evidence relative to the highest (nats)"},
            "range": [1.06 * lowest, 0.03 * abs(lowest)],
        },
        yaxis={
            "tickvals": list(range(len(table))),
            "ticktext": [label(text, LONGEST_TICK) for text in table["structure"]],
            "range": [len(table) - 0.4, -0.6],
            "showgrid": False,
            "ticks": "",
        },
        showlegend=True,
        legend={"title": {"text": "family"}},
    )
    errors = (
        "Whiskers are one standard error."
        if error.any()
        else "There is no sampling error to draw: the integrals are Laplace's."
    )
    caption = (
        "Log evidence of each structure relative to the highest, in nats (differences "
        "of natural logarithms; 5 nats are odds of 148 to 1). "
        f"{errors} The shaded band is {AVERAGE_WITHIN:g} nats wide: structures inside "
        "it are better averaged than picked. Structures are in the order of their "
        "probabilities, in which the prior has its part. "
        "Hollow markers carry a flag."
    )
    return finish(figure, caption, height=130 + 34 * max(len(table), 2))


def _compared_last(result: OptimizationLike, outcome: str | None) -> DataFrame:
    """The leaderboard of an outcome, with the columns of a comparison's table."""
    ranked = result.leaderboard
    name = outcome or next(iter(result.objectives))
    table = DataFrame() if ranked.empty else ranked[ranked["outcome"] == name]
    if table.empty:
        raise InputError(
            f"expected structures compared for {name!r:.60}, got none; offer several, "
            "and run beyond the initial points"
        )
    families = [_family(str(text)) for text in table["structure"]]
    return table.assign(family=families, flags="").reset_index(drop=True)


def _family(text: str) -> str:
    try:
        return parse(text).family
    except BokernError:
        return "unknown"


def _add_family(
    figure: go.Figure,
    family: str,
    table: DataFrame,
    gap: NDArray[np.float64],
    error: NDArray[np.float64],
) -> None:
    """Stems, markers with errors, and an entry of the legend for one family."""
    colour = family_colour(family)
    rows = table.index.to_numpy()
    figure.add_bar(
        y=rows,
        x=gap,
        orientation="h",
        width=0.06,
        marker={"color": colour, "line": {"width": 0}},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        y=rows,
        x=gap,
        error_x={"array": error, "thickness": 1.5, "color": colour},
        mode="markers",
        name=label(family),
        showlegend=False,
        marker={
            "size": 11,
            "color": colour,
            "line": {"width": 2, "color": colour},
            "symbol": [
                "circle-open" if str(flags).strip() else "circle"
                for flags in table["flags"]
            ],
        },
        customdata=[
            [label(text, 120), nats(value, 2)]
            for text, value in zip(table["structure"], gap, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} nats<extra></extra>",
    )
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="markers",
        name=label(family),
        marker={"size": 11, "color": colour},
    )
