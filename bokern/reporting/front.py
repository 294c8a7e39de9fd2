"""Several objectives: the trials that no other beats."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from bokern.errors import InputError
from bokern.reporting.progress import Course, course
from bokern.reporting.results import OptimizationLike, StudyLike, optimization_of
from bokern.reporting.theme import ACCENT, ALERT, MUTED, finish, label

__all__ = ["pareto_front"]

MOST_OBJECTIVES = 4
PANELS_A_ROW = 3


def pareto_front(source: OptimizationLike | StudyLike) -> go.Figure:
    """All trials by two objectives at a time, with those that no other beats.

    Args:
        source: An optimisation or a study of two objectives or more.

    Returns:
        A figure in the units of the objectives, a panel for each pair of them.

    Raises:
        InputError: If there is one objective only, or no trial was completed.
    """
    result = optimization_of(source)
    names = list(result.objectives)[:MOST_OBJECTIVES]
    if len(names) < 2:
        raise InputError(
            f"expected two objectives or more, got {names}; of one, the history shows "
            "the best"
        )
    paths = {name: course(result, name) for name in names}
    first = paths[names[0]]
    if first.failed.all():
        raise InputError("expected trials with values, got none completed")
    front = np.isin(first.trial, [trial.id for trial in result.pareto])
    pairs = list(combinations(names, 2))
    across = min(len(pairs), PANELS_A_ROW)
    down = -(-len(pairs) // across)
    figure = make_subplots(
        rows=down, cols=across, horizontal_spacing=0.1, vertical_spacing=0.2
    )
    for panel, (a, b) in enumerate(pairs):
        row, col = panel // across + 1, panel % across + 1
        for trace in _traces(paths[a], paths[b], front, panel == 0, len(names) == 2):
            figure.add_trace(trace, row=row, col=col)
        figure.update_xaxes(title={"text": _titled(result, a)}, row=row, col=col)
        figure.update_yaxes(title={"text": _titled(result, b)}, row=row, col=col)
    return finish(figure, _caption(result, first, front), height=130 + 290 * down)


def _titled(result: OptimizationLike, name: str) -> str:
    return f"{label(name, 24)} ({result.objectives[name]})"


def _traces(
    a: Course, b: Course, front: np.ndarray, first: bool, staircase: bool
) -> list[go.Scatter]:
    kept = a.kept & ~front
    broken = ~a.kept & ~a.failed
    kinds = [
        ("beaten by another", kept, {"color": MUTED, "size": 7, "opacity": 0.75}),
        (
            "breaks a constraint",
            broken,
            {"color": ALERT, "size": 7, "symbol": "circle-open"},
        ),
        ("beaten by none", front, {"color": ACCENT, "size": 10}),
    ]
    traces = []
    if staircase and front.any():
        traces.append(_staircase(a, b, front))
    for name, mine, marker in kinds:
        if mine.any():
            traces.append(
                go.Scatter(
                    x=a.value[mine],
                    y=b.value[mine],
                    mode="markers",
                    marker=marker,
                    name=name,
                    legendgroup=name,
                    showlegend=first,
                    customdata=a.trial[mine],
                    hovertemplate="trial %{customdata}: %{x:.5g}, %{y:.5g}"
                    "<extra></extra>",
                )
            )
    return traces


def _staircase(a: Course, b: Course, front: np.ndarray) -> go.Scatter:
    """The border of what the front beats."""
    order = np.argsort(a.sign * a.value[front], kind="stable")
    return go.Scatter(
        x=a.value[front][order],
        y=b.value[front][order],
        mode="lines",
        line={"shape": "hv", "color": ACCENT, "width": 1.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _caption(result: OptimizationLike, path: Course, front: np.ndarray) -> str:
    ways = ", ".join(
        f"{name} is {'minimised' if way == 'minimize' else 'maximised'}"
        for name, way in result.objectives.items()
    )
    text = (
        f"Each point is a trial in the units of the objectives: {ways}. Blue: the "
        f"{int(front.sum())} that no other beats in all objectives at once, the Pareto "
        "front; from one of these to the next, what one objective gains another loses"
    )
    broken = int((~path.kept & ~path.failed).sum())
    if broken:
        text += f". Hollow: {broken} that break a constraint on outcomes"
    failed = int(path.failed.sum())
    if failed:
        text += f". Left out: {failed} failed trials"
    if len(result.objectives) > MOST_OBJECTIVES:
        text += f". Shown are the first {MOST_OBJECTIVES} objectives"
    return text + "."
