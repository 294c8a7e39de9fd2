"""Leave-one-out predictions: are they right, and are their errors honest?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go
from plotly.subplots import make_subplots
from scipy.stats import binom, norm

from bokern.errors import InputError
from bokern.evidence import leave_one_out
from bokern.models import StructuredGP
from bokern.reporting.digits import general
from bokern.reporting.surrogate import Source, modelled
from bokern.reporting.theme import ACCENT, MUTED, finish, label

__all__ = ["Calibration", "calibration", "leave_one_out_calibration"]

LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True)
class Calibration:
    """How leave-one-out predictions compare with what was observed.

    Attributes:
        residuals: (observed − predicted) / predictive standard deviation, n, where
            predictions are Gaussian: after the outcome transform if there is one.
        pit: Probability integral transform of each observation, n; uniform when
            the predictions are calibrated.
        coverage: Pairs of nominal level and the share of observations inside the
            central interval of that level.
        rmse: Root of the mean squared error, raw units.
        log_density: Mean log predictive density, nats per observation.
    """

    residuals: NDArray[np.float64]
    pit: NDArray[np.float64]
    coverage: tuple[tuple[float, float], ...]
    rmse: float
    log_density: float


def calibration(
    y: NDArray[np.float64],
    mean: NDArray[np.float64],
    residuals: NDArray[np.float64],
    log_density: NDArray[np.float64],
) -> Calibration:
    """Summarise predictions of single observations.

    Args:
        y: Observations, n, raw units.
        mean: Predictive means, n, raw units.
        residuals: Standard normal where predictions are calibrated, n.
        log_density: Of each observation under its prediction, n, nats.

    Returns:
        Residuals, PIT values, coverage and scores.
    """
    coverage = tuple(
        (level, float(np.mean(np.abs(residuals) <= norm.ppf(0.5 + level / 2))))
        for level in LEVELS
    )
    return Calibration(
        residuals=residuals,
        pit=norm.cdf(residuals),
        coverage=coverage,
        rmse=float(np.sqrt(np.mean((y - mean) ** 2))),
        log_density=float(np.mean(log_density)),
    )


def leave_one_out_calibration(
    source: Source, *, outcome: str | None = None
) -> go.Figure:
    """Leave-one-out predictions against observations, and their PIT histogram.

    Args:
        source: Whose model is judged; see ``bokern.plot.modelled``.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        A figure of two panels; the caption states the coverage.

    Raises:
        InputError: If the model is of another kind.
    """
    data = modelled(source, outcome)
    if not isinstance(data.model, StructuredGP):
        raise InputError(
            "expected a comparison or a fitted StructuredGP, got "
            f"{type(data.model).__name__}; pass one of the members, or found.model()"
        )
    held_out = leave_one_out(data.model)
    mean = held_out.mean.detach().cpu().reshape(-1).numpy()
    sd = held_out.variance.detach().cpu().reshape(-1).clamp_min(0).sqrt().numpy()
    y = data.y.numpy()
    residuals = held_out.residual.detach().cpu().reshape(-1).numpy()
    density = held_out.log_density.detach().cpu().reshape(-1).numpy()
    score = calibration(y, mean, residuals, density)
    figure = make_subplots(cols=2, column_widths=[0.55, 0.45], horizontal_spacing=0.12)
    _predictions(figure, y, mean, sd)
    _histogram(figure, score.pit)
    target = label(data.target_name)
    figure.update_xaxes(title={"text": f"predicted {target}"}, col=1)
    figure.update_yaxes(title={"text": f"observed {target}"}, col=1)
    figure.update_xaxes(
        title={"text": "probability integral transform"}, range=[0, 1], col=2
    )
    figure.update_yaxes(title={"text": "observations"}, rangemode="tozero", col=2)
    figure.update_layout(showlegend=False)
    return finish(figure, _caption(score, len(y)))


def _predictions(
    figure: go.Figure,
    y: NDArray[np.float64],
    mean: NDArray[np.float64],
    sd: NDArray[np.float64],
) -> None:
    ends = [float(min(y.min(), mean.min())), float(max(y.max(), mean.max()))]
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": MUTED, "width": 1, "dash": "dash"},
        hoverinfo="skip",
        row=1,
        col=1,
    )
    figure.add_scatter(
        x=mean,
        y=y,
        error_x={"array": 2 * sd, "thickness": 1, "width": 0, "color": ACCENT},
        mode="markers",
        marker={"size": 5, "color": ACCENT},
        opacity=0.75,
        hovertemplate="observed %{y:.4g}<br>predicted %{x:.4g}<extra></extra>",
        row=1,
        col=1,
    )


def _histogram(figure: go.Figure, pit: NDArray[np.float64]) -> None:
    """Counts in equal bins over the band that calibrated predictions stay in."""
    n = len(pit)
    bins = int(np.clip(n // 8, 4, 10))
    counts, edges = np.histogram(pit, bins=bins, range=(0, 1))
    low, high = binom.ppf([0.025, 0.975], n, 1 / bins)
    figure.add_hrect(
        y0=low,
        y1=high,
        fillcolor="rgba(110, 119, 129, 0.22)",
        line_width=0,
        layer="below",
        exclude_empty_subplots=False,
        row=1,
        col=2,
    )
    figure.add_hline(
        y=n / bins,
        line={"color": MUTED, "width": 1, "dash": "dash"},
        exclude_empty_subplots=False,
        row=1,
        col=2,
    )
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=0.9 / bins,
        marker={"color": ACCENT},
        opacity=0.8,
        hovertemplate="%{y} observations<extra></extra>",
        row=1,
        col=2,
    )


def _caption(score: Calibration, n: int) -> str:
    inside = ", ".join(
        f"{100 * share:.0f} % (of {100 * level:.0f} %)"
        for level, share in score.coverage
    )
    return (
        f"Left: each of the {n} observations against its prediction from all the "
        "others at the fitted hyperparameters, with two standard deviations, in the "
        "units of the data. Right: where the observations fall in their predictive "
        "distributions; calibrated predictions stay in the grey band in about 95 % of "
        f"the bins. Observations inside the central intervals: {inside}. Root mean "
        f"squared error {general(score.rmse)}; mean log density "
        f"{general(score.log_density)} nats an observation; standard deviation of the "
        f"standardised residuals {general(float(score.residuals.std()), 3)} (1 when "
        "calibrated)."
    )
