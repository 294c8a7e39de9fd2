"""How far from the optimum an optimisation was, trial by trial."""

from __future__ import annotations

import numpy as np
from plotly import graph_objects as go

from bokern.errors import InputError
from bokern.reporting.digits import general
from bokern.reporting.progress import course
from bokern.reporting.results import OptimizationLike, StudyLike, optimization_of
from bokern.reporting.theme import ACCENT, finish

__all__ = ["regret"]


def regret(source: OptimizationLike | StudyLike) -> go.Figure:
    """Simple regret on a logarithmic axis.

    Where the optimum is unknown, the gap to the final best is drawn instead, and the
    caption says so.

    Args:
        source: An optimisation or a study, of one objective.

    Returns:
        A figure in the units of the objective.

    Raises:
        InputError: If there is no trial, or there are several objectives.
    """
    result = optimization_of(source)
    if len(result.objectives) > 1:
        raise InputError(
            f"expected one objective, got {list(result.objectives)}, for which there "
            "is no regret; draw the Pareto front instead"
        )
    path = course(result)
    optimum = result.optimum
    known = optimum is not None
    target = float(result.best_value if optimum is None else optimum)
    gap = path.sign * (path.best - target)
    scale = np.fmax.reduce(np.abs(np.append(path.value, target)), initial=0.0)
    floor = np.finfo(float).eps * scale
    drawn = np.where(gap > floor, gap, np.nan)
    decades = np.log10(drawn[~np.isnan(drawn)])
    figure = go.Figure()
    figure.add_scatter(
        x=path.trial,
        y=drawn,
        mode="lines+markers",
        line={"shape": "hv", "color": ACCENT, "width": 2},
        marker={"size": 5},
        hovertemplate="trial %{x}: %{y:.3g}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title={"text": "trial"})
    figure.update_yaxes(
        title={"text": "simple regret" if known else "gap to the final best"},
        type="log",
        exponentformat="power",
        dtick=1 if decades.size and np.ptp(decades) > 2 else None,
        tickfont={"size": 11},
    )
    if known:
        caption = (
            "Simple regret: distance of the best value so far from the known optimum "
            f"{general(target, 6)}, in the units of the objective, logarithmic axis. "
            f"At the end it is {general(float(gap[-1]), 3)}."
        )
    else:
        caption = (
            "The optimum is not known: drawn is the gap between the best value so far "
            f"and the final best {general(target, 6)}, in the units of the objective, "
            "logarithmic axis; it says how the search went, not how far it is from "
            "the optimum. The line ends where the final best was found."
        )
    if known and np.isnan(drawn[~np.isnan(gap)]).any():
        caption += " Trials at the optimum to rounding are not drawn."
    return finish(figure, caption, height=320)
