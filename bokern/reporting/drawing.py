"""A figure with its title, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plotly import graph_objects as go

from bokern.errors import BokernError
from bokern.reporting.theme import caption_of

__all__ = ["Drawing", "drawn"]


@dataclass(frozen=True)
class Drawing:
    """A figure with its title, or the reason why there is none."""

    title: str
    figure: go.Figure | None
    caption: str


def drawn(title: str, draw: Callable[[], go.Figure]) -> Drawing:
    """Draws, but lets one figure fail without losing the page."""
    try:
        figure = draw()
    except BokernError as error:
        return Drawing(title, None, f"Could not be drawn: {error}")
    return Drawing(title, figure, caption_of(figure))
