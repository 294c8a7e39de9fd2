"""Constraints on outcomes: which trials keep them, and by how much."""

from __future__ import annotations

from plotly import graph_objects as go
from plotly.subplots import make_subplots

from bokern.errors import InputError
from bokern.reporting.digits import general
from bokern.reporting.progress import course
from bokern.reporting.results import (
    ConstraintLike,
    OptimizationLike,
    StudyLike,
    optimization_of,
)
from bokern.reporting.theme import ACCENT, ALERT, finish, label

__all__ = ["outcome_limits"]

ROW = 200
"""Height of a panel, in pixels."""


def outcome_limits(source: OptimizationLike | StudyLike) -> go.Figure:
    """Each constrained outcome by trial, with its bound.

    Args:
        source: An optimisation or a study with constraints on outcomes.

    Returns:
        A figure in the units of the outcomes, a panel for each constraint.

    Raises:
        InputError: If there is no constraint, no trial, or none was completed.
    """
    result = optimization_of(source)
    constraints = list(result.outcome_constraints)
    if not constraints:
        raise InputError(
            "expected constraints on outcomes, got none; nothing is bounded"
        )
    path = course(result)
    if path.failed.all():
        raise InputError("expected trials with values, got none completed")
    figure = make_subplots(
        rows=len(constraints), cols=1, shared_xaxes=True, vertical_spacing=0.06
    )
    for row, constraint in enumerate(constraints, start=1):
        _panel(figure, result, constraint, row)
    figure.update_xaxes(title={"text": "trial"}, row=len(constraints), col=1)
    done, kept = int((~path.failed).sum()), int(path.kept.sum())
    caption = (
        "Each constrained outcome at each trial, in its own units; the line is its "
        f"bound and red lies beyond it. {kept} of {done} completed trials keep all "
        f"constraints ({'; '.join(map(_text, constraints))}). Only these can be best."
    )
    return finish(figure, caption, height=90 + ROW * len(constraints))


def _panel(
    figure: go.Figure, result: OptimizationLike, constraint: ConstraintLike, row: int
) -> None:
    ((name, weight),) = constraint.weights
    path = course(result)
    values = result.trials[name].to_numpy(dtype=float)
    keeps = [constraint.keeps({name: value}) for value in values]
    for kind, wanted, colour in (("kept", True, ACCENT), ("broken", False, ALERT)):
        mine = [k == wanted and not f for k, f in zip(keeps, path.failed, strict=True)]
        figure.add_scatter(
            x=path.trial[mine],
            y=values[mine],
            mode="markers",
            marker={
                "size": 8,
                "color": colour,
                "symbol": "circle" if wanted else "circle-open",
                "line": {"width": 2, "color": colour},
            },
            name=kind,
            legendgroup=kind,
            showlegend=row == 1,
            hovertemplate="trial %{x}: %{y:.5g}<extra></extra>",
            row=row,
            col=1,
        )
    figure.add_hline(
        y=constraint.bound / weight,
        line={"color": ALERT, "width": 1.5, "dash": "dot"},
        row=row,
        col=1,
    )
    figure.update_yaxes(title={"text": label(name, 24)}, row=row, col=1)


def _text(constraint: ConstraintLike) -> str:
    ((name, weight),) = constraint.weights
    relation = "≤" if weight > 0 else "≥"
    return f"{name} {relation} {general(constraint.bound / weight)}"
