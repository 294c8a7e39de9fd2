"""The look of every figure, in one place: colours, fonts, axes, captions."""

from __future__ import annotations

import html
from typing import Any

from plotly import graph_objects as go

INK = "#1f2328"
MUTED = "#6e7781"
ACCENT = "#2a7ab9"
ALERT = "#c4421a"


def shade(colour: str, opacity: float = 0.22) -> str:
    """A colour, of six hexadecimal digits, as thin as a band's."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


BAND = shade(ACCENT)

COLOURS = "Viridis"
"""Of values, from low to high; even in brightness, so it prints."""

FAMILY_COLOURS = {
    "stationary": ACCENT,
    "composite": "#d98c00",
    "warped": "#12946b",
    "deep": "#b0558f",
    "invariant": "#c4421a",
    "composition": "#3d9bd1",
}
"""Okabe and Ito's colours, shifted until they read on white and on black."""

GENERATOR_COLOURS = (
    ACCENT,
    "#d98c00",
    "#12946b",
    "#b0558f",
    "#c4421a",
    "#3d9bd1",
    "#7d6b00",
    "#5a4fcf",
)

LONGEST_LABEL = 42

_AXIS = {
    "automargin": True,
    "gridcolor": "#e4e7eb",
    "linecolor": "#8c959f",
    "tickcolor": "#8c959f",
    "showline": True,
    "ticks": "outside",
    "ticklen": 4,
    "zeroline": False,
    "title": {"standoff": 8, "font": {"size": 13}},
}

TEMPLATE = go.layout.Template(
    layout={
        "font": {
            "family": "system-ui, -apple-system, 'Segoe UI', Roboto, "
            "'Helvetica Neue', Arial, sans-serif",
            "size": 13,
            "color": INK,
        },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 64, "r": 24, "t": 36, "b": 52},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "hoverlabel": {
            "bgcolor": "#ffffff",
            "bordercolor": "#8c959f",
            "font": {"color": INK},
        },
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "title": {"font": {"size": 13}},
        },
        "hovermode": "closest",
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "#8c959f",
            "activecolor": ACCENT,
        },
    }
)


def label(text: object, longest: int = LONGEST_LABEL) -> str:
    """Text from outside as a figure may show it: literal, and not too long.

    Plotly reads some HTML in its labels, links among it, so names of columns and
    structures are escaped before they reach one.

    Args:
        text: A column name, a structure, a reason.
        longest: Where to cut, in characters.

    Returns:
        The text on one line, cut with an ellipsis, with HTML characters escaped.
    """
    plain = " ".join(str(text).split())
    if len(plain) > longest:
        plain = plain[: longest - 1] + "…"
    return html.escape(plain, quote=False)


def colour_bar(name: object) -> dict[str, Any]:
    """A narrow bar of the colours of values, with the name of what they are."""
    return {
        "title": {"text": label(name, 18), "font": {"size": 13}},
        "thickness": 14,
        "outlinewidth": 0,
    }


def family_colour(family: str) -> str:
    """The colour of a family of structures; grey for one that has none."""
    return FAMILY_COLOURS.get(family, MUTED)


def finish(figure: go.Figure, caption: str, height: int = 380) -> go.Figure:
    """Give a figure the common look and its caption.

    Args:
        figure: The figure, changed in place.
        caption: What is shown and in which units, as plain text.
        height: In pixels.

    Returns:
        The same figure.
    """
    figure.update_layout(template=TEMPLATE, height=height, meta={"caption": caption})
    return figure


def caption_of(figure: go.Figure) -> str:
    """What a figure of this package shows and in which units, as plain text."""
    meta: Any = figure.layout.meta
    return str(meta["caption"]) if isinstance(meta, dict) else ""
