"""How the variance divides among the parts of a structure and the noise."""

from __future__ import annotations

from plotly import graph_objects as go

from bokern.reporting.parts import explained
from bokern.reporting.results import ComparisonLike
from bokern.reporting.theme import ACCENT, ALERT, MUTED, finish, label
from bokern.selection.explanation import Explanation

__all__ = ["variance_shares"]

LONGEST_TICK = 60


def variance_shares(source: ComparisonLike | Explanation) -> go.Figure:
    """The share of the variance of each part, of the noise, and of what is shared.

    Args:
        source: A comparison, whose best structure is taken apart, or an explanation.

    Returns:
        A figure in per cent, which add up to 100.
    """
    explanation = explained(source)
    rows = [(c.structure, c.share, ACCENT) for c in explanation.components]
    rows.append(("noise", explanation.noise_share, MUTED))
    rows.append(("shared by parts", explanation.shared, ALERT))
    places = list(range(len(rows)))
    share = [100.0 * value for _, value, _ in rows]
    figure = go.Figure()
    figure.add_bar(
        y=places,
        x=share,
        orientation="h",
        width=0.6,
        marker={"color": [colour for *_, colour in rows], "line": {"width": 0}},
        text=[f"{value:.1f} %".replace("-", "−") for value in share],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    low, high = min(0.0, *share), max(share)
    room = 0.12 * (high - low)
    figure.update_xaxes(
        title={"text": f"share of the variance of {label(explanation.units.name)} (%)"},
        range=[low - room if low < 0 else 0.0, high + room],
    )
    figure.update_yaxes(
        tickvals=places,
        ticktext=[label(name, LONGEST_TICK) for name, *_ in rows],
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
        ticks="",
    )
    return finish(figure, _caption(explanation), height=100 + 32 * len(rows))


def _caption(explanation: Explanation) -> str:
    return (
        "Posterior expectation of the variance of each part over the data, relative "
        f"to that of {explanation.units.name}. What is shared are the covariances of "
        "all pairs, negative where parts undo each other; with the noise, all add up "
        "to 100 %."
    )
