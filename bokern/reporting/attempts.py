"""What a search tried: every structure, where it came from, and how far it got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from plotly import graph_objects as go

from bokern.errors import BokernError, InputError
from bokern.reporting.digits import nats
from bokern.reporting.results import ComparisonLike
from bokern.reporting.theme import MUTED, family_colour, finish, label
from bokern.selection.attempt import Attempt
from bokern.selection.verdict import REACHED, reached
from bokern.selection.wording import spelled
from bokern.structures import parse

__all__ = ["named_text", "search_course"]

SYMBOLS = {
    "finalist": "circle",
    "converged": "circle-open",
    "scouted": "x-thin",
    "pruned": "x-thin",
}
"""How far a structure got, as a marker."""

FURTHEST = 60.0
"""Nats behind the best at which the axis ends; worse ones are drawn there."""

SPREAD = 0.7
"""Width over which the structures of a round are spread, in rounds."""


def search_course(found: ComparisonLike) -> go.Figure:
    """Scores of all structures of a search by round, and what they were derived from.

    Args:
        found: A comparison that a search made.

    Returns:
        A figure in nats behind the best; lines lead to each structure from the one
        that it was derived from.

    Raises:
        InputError: If it was no search, or nothing in it has a score.
    """
    scored = [attempt for attempt in found.trace if attempt.score is not None]
    if not scored:
        raise InputError(
            "expected a comparison with structures that a search tried, got none; pass "
            "what bokern.search returns"
        )
    value = np.array([float(a.score or 0.0) for a in scored])
    behind = np.maximum(value - value.max(), -FURTHEST)
    where = _places(scored)
    names = [str(name) for name in found.column_names]
    figure = go.Figure()
    _descent(figure, scored, where, behind)
    families = [_family(attempt.structure) for attempt in scored]
    for family in dict.fromkeys(families):
        mine = [i for i, other in enumerate(families) if other == family]
        figure.add_scatter(
            x=where[mine],
            y=behind[mine],
            mode="markers",
            name=label(family),
            showlegend=False,
            marker={
                "size": 9,
                "color": family_colour(family),
                "line": {"width": 2, "color": family_colour(family)},
                "symbol": [SYMBOLS.get(scored[i].status, "diamond") for i in mine],
            },
            customdata=[_hover(scored[i], names, behind[i]) for i in mine],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]} "
            "nats, %{customdata[3]}<extra></extra>",
        )
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=label(family),
            marker={"size": 9, "color": family_colour(family)},
        )
    rounds = max(attempt.round for attempt in scored)
    figure.update_xaxes(
        title={"text": "round of expansion"},
        tickvals=list(range(rounds + 1)),
        ticktext=["start", *map(str, range(1, rounds + 1))],
        range=[-0.6, rounds + 0.6],
        showgrid=False,
    )
    low = min(-5.0, 1.08 * float(behind.min()))
    figure.update_yaxes(
        title={"text": "score behind the best (nats)"}, range=[low, -0.05 * low]
    )
    figure.update_layout(legend={"title": {"text": "family"}})
    return finish(figure, _caption(found, scored), height=420)


def named_text(text: str, names: Sequence[str]) -> str:
    """A structure's text with the names of its columns; itself if it does not parse."""
    try:
        return spelled(parse(text).resolve(names), names)
    except BokernError:
        return text


def _family(text: str) -> str:
    try:
        return parse(text).family
    except BokernError:
        return "unknown"


def _places(scored: Sequence[Attempt]) -> np.ndarray:
    """The structures of a round side by side, in the order in which they came."""
    where = np.empty(len(scored))
    for number in {attempt.round for attempt in scored}:
        mine = [i for i, attempt in enumerate(scored) if attempt.round == number]
        where[mine] = number + SPREAD * ((np.arange(len(mine)) + 0.5) / len(mine) - 0.5)
    return where


def _descent(
    figure: go.Figure, scored: Sequence[Attempt], where: np.ndarray, behind: np.ndarray
) -> None:
    """A line to each structure from its parent."""
    number = {attempt.structure: i for i, attempt in enumerate(scored)}
    x: list[float | None] = []
    y: list[float | None] = []
    for i, attempt in enumerate(scored):
        parent = number.get(attempt.parent)
        if parent is not None:
            x += [where[parent], where[i], None]
            y += [behind[parent], behind[i], None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": MUTED, "width": 0.7},
        opacity=0.6,
        hoverinfo="skip",
        showlegend=False,
    )


def _hover(attempt: Attempt, names: Sequence[str], behind: float) -> list[str]:
    return [
        label(named_text(attempt.structure, names), 120),
        label(attempt.move or "from the start"),
        nats(behind, 2),
        label(REACHED.get(reached(attempt), attempt.status)),
    ]


def _caption(found: ComparisonLike, scored: Sequence[Attempt]) -> str:
    counts = Counter(map(reached, found.trace))
    text = (
        f"The {len(found.trace)} structures that the search tried, by round, with a "
        "line from the structure that each was derived from. The score is the log "
        "evidence of the last step that a structure reached, which may have seen some "
        "of the rows only, relative to the best. Filled: sampled; hollow: optimised "
        "to the end; crosses: looked at only. Structures further behind than "
        f"{FURTHEST:g} nats are drawn there"
    )
    for key in ("failed", "unreached"):
        if counts[key]:
            text += f"; {counts[key]} {REACHED[key]}"
    return f"{text}."
