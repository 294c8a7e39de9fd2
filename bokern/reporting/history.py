"""What an optimisation saw, trial by trial."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from bokern.reporting.digits import general
from bokern.reporting.progress import Course, course
from bokern.reporting.results import OptimizationLike, StudyLike, optimization_of
from bokern.reporting.theme import ALERT, GENERATOR_COLOURS, MUTED, finish, label

__all__ = ["optimization_history"]

BEFORE_A_MODEL = ("initial", "sobol")


def optimization_history(
    source: OptimizationLike | StudyLike, *, objective: str | None = None
) -> go.Figure:
    """Value of each trial, by what proposed it, and the best so far.

    Args:
        source: An optimisation or a study.
        objective: Which one, if there are several; the first by default.

    Returns:
        A figure in the units of the objective; failed trials are crosses on the axis,
        those that break a constraint on outcomes are hollow.

    Raises:
        InputError: If there is no trial, or no such objective.
    """
    result = optimization_of(source)
    path = course(result, objective)
    figure = go.Figure()
    figure.add_scatter(
        x=path.trial,
        y=path.best,
        mode="lines",
        line={"shape": "hv", "color": MUTED, "width": 1.5},
        name="best so far",
        hoverinfo="skip",
    )
    generators = result.trials["generator"].astype(str).to_numpy()
    for index, generator in enumerate(dict.fromkeys(generators)):
        mine = (generators == generator) & ~path.failed
        colour = GENERATOR_COLOURS[index % len(GENERATOR_COLOURS)]
        shape = "square" if generator in BEFORE_A_MODEL else "circle"
        figure.add_scatter(
            x=path.trial[mine],
            y=path.value[mine],
            mode="markers",
            marker={
                "size": 8,
                "color": colour,
                "line": {"width": 1.5, "color": colour},
                "symbol": _symbols(shape, path.kept[mine]),
            },
            name=label(generator),
            hovertemplate="trial %{x}: %{y:.6g}<extra></extra>",
        )
    _failures(figure, path)
    figure.update_xaxes(title={"text": "trial"}, rangemode="normal")
    several = len(result.objectives) > 1 or path.name != "value"
    figure.update_yaxes(title={"text": label(path.name) if several else "objective"})
    optimum = result.optimum if len(result.objectives) == 1 else None
    if optimum is not None:
        figure.add_hline(y=optimum, line={"color": MUTED, "width": 1.5, "dash": "dot"})
    return finish(figure, _caption(path, optimum))


def _symbols(shape: str, kept: NDArray[np.bool_]) -> str | list[str]:
    """Hollow for trials that break a constraint; one for all if none does."""
    if kept.all():
        return shape
    return [shape if each else f"{shape}-open" for each in kept]


def _failures(figure: go.Figure, path: Course) -> None:
    if not path.failed.any():
        return
    done = path.value[~path.failed]
    floor = float(done.min()) - 0.06 * float(np.ptp(done) or 1) if done.size else 0.0
    figure.add_scatter(
        x=path.trial[path.failed],
        y=np.full(int(path.failed.sum()), floor),
        mode="markers",
        marker={"symbol": "x-thin", "size": 9, "line": {"width": 2, "color": ALERT}},
        name="failed",
        hovertemplate="trial %{x} failed<extra></extra>",
    )


def _caption(path: Course, optimum: float | None) -> str:
    verb = "minimised" if path.sign > 0 else "maximised"
    text = (
        f"Value of the objective, {verb}, in its own units, at each of the "
        f"{len(path.trial)} trials, coloured by what proposed the point (of a mixture, "
        "the structure of largest weight; squares: before there was a model); the "
        "line is the best so far."
    )
    if optimum is not None:
        text += f" Dotted: the known optimum, {general(float(optimum), 6)}."
    broken = int((~path.kept & ~path.failed).sum())
    if broken:
        text += f" Hollow: {broken} break a constraint on outcomes and cannot be best."
    failed = int(path.failed.sum())
    if failed:
        text += f" Crosses below the values: {failed} failed."
    return text
