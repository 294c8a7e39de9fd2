"""Which structures an optimisation believed in, trial by trial."""

from __future__ import annotations

import pandas as pd
from plotly import graph_objects as go

from bokern.errors import InputError
from bokern.reporting.results import OptimizationLike, StudyLike, optimization_of
from bokern.reporting.theme import GENERATOR_COLOURS, MUTED, finish, label

__all__ = ["structure_probabilities"]

MOST_STRUCTURES = 7
OTHERS = "others"
FEW = 12
"""Trials that each have a tick."""


def structure_probabilities(
    source: OptimizationLike | StudyLike | pd.DataFrame, metric: str | None = None
) -> go.Figure:
    """Posterior probabilities of the structures at each trial, stacked.

    Args:
        source: An optimisation, a study, or what ``bokern.ax.structure_history``
            returns.
        metric: Which one, if there are several; the first by default.

    Returns:
        A figure of probabilities, which add up to 1 from the first comparison on.

    Raises:
        InputError: If structures were never compared, or there is no such metric.
    """
    if isinstance(source, pd.DataFrame):
        history = source
    else:
        history = optimization_of(source).structure_history
    if history.empty:
        raise InputError(
            "expected an optimisation that compared structures, got none compared; "
            "offer several, and run beyond the initial points"
        )
    metrics = list(dict.fromkeys(history["metric"]))
    if metric is not None and metric not in metrics:
        raise InputError(f"expected a metric among {metrics}, got {metric!r}")
    chosen = history[history["metric"] == (metric or metrics[0])]
    table = chosen.pivot_table(
        index="trial", columns="structure", values="probability", fill_value=0.0
    )
    order = table.sum().sort_values(ascending=False, kind="stable").index
    shown = list(order[:MOST_STRUCTURES])
    figure = go.Figure()
    for index, name in enumerate(shown):
        colour = GENERATOR_COLOURS[index % len(GENERATOR_COLOURS)]
        _add(figure, table.index, table[name], str(name), colour)
    rest = table[order[MOST_STRUCTURES:]].sum(axis=1)
    if len(order) > MOST_STRUCTURES:
        _add(figure, table.index, rest, OTHERS, MUTED)
    few = len(table) <= FEW
    figure.update_xaxes(
        title={"text": "trial"}, rangemode="normal", dtick=1 if few else None
    )
    figure.update_yaxes(title={"text": "posterior probability"}, range=[0.0, 1.0])
    figure.update_layout(legend={"traceorder": "normal"})
    return finish(figure, _caption(chosen, len(order)))


def _add(
    figure: go.Figure, trials: pd.Index, share: pd.Series, name: str, colour: str
) -> None:
    figure.add_scatter(
        x=trials.to_numpy(),
        y=share.to_numpy(),
        mode="lines",
        stackgroup="structures",
        line={"shape": "hv", "width": 0.5, "color": colour},
        fillcolor=colour,
        opacity=0.85,
        name=label(name),
        hovertemplate=f"trial %{{x}}: %{{y:.3f}} {label(name)}<extra></extra>",
    )


def _caption(history: pd.DataFrame, structures: int) -> str:
    searches = history["searched_at"].nunique()
    text = (
        "Posterior probability of each structure among those compared, as it stood "
        f"when each trial was proposed: {structures} structures, compared "
        f"{searches} times. It changes where the data had grown enough for a new "
        "comparison; before the first one there is none to show."
    )
    if structures > MOST_STRUCTURES:
        text += f" All but the {MOST_STRUCTURES} most probable are drawn as one."
    return text
