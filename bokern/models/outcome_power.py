"""The power of a Yeo–Johnson transform, fitted with the hyperparameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from scipy.optimize import minimize_scalar

from bokern import seeding
from bokern.fitting import draw_starts, screen_starts
from bokern.hyperpriors import outcome_power
from bokern.models.exact import StructuredGP
from bokern.models.outcome import yeo_johnson_text
from bokern.models.outcome_steps import log_slopes
from bokern.models.yeo_johnson import MAX_POWER, MIN_POWER

POWER_DIGITS = 2
POWER_STEP = 10.0**-POWER_DIGITS

THINNED, SCREEN_ROWS, SCREENED = 4, 64, 3
"""A refit screens every fourth draw on so many rows, and optimises so many of them."""


def fit_power(build: Callable[[str], StructuredGP]) -> StructuredGP:
    """The model at the joint optimum of λ and the hyperparameters.

    Args:
        build: From a transform's text to an unfitted model.

    Raises:
        FitError: If a model cannot be fitted.
    """
    last: list[StructuredGP] = []  # the latest fit, once there is one

    def loss(power: float) -> float:
        model = build(yeo_johnson_text(power))
        last[:] = [refit(model, last) if last else model.fit()]
        assert model.fit_result is not None
        transform = getattr(model, "outcome_transform", None)
        slopes = log_slopes(transform, model.raw_targets.double())
        value = model.fit_result.objective + slopes.sum().item()
        return -value - (log_prior(power) if model.objective == "map" else 0.0)

    found = minimize_scalar(
        loss,
        bounds=(MIN_POWER, MAX_POWER),
        method="bounded",
        options={"xatol": POWER_STEP},
    )
    power = round(float(found.x), POWER_DIGITS)
    for end in (MIN_POWER, MAX_POWER):  # which a bounded search never quite reaches
        if abs(power - end) <= 2.0 * POWER_STEP and loss(end) < found.fun:
            power = end
    return build(yeo_johnson_text(power)).fit(warm=last[-1].theta().unsqueeze(0))


def refit(model: StructuredGP, like: Sequence[StructuredGP]) -> StructuredGP:
    """Fits a model from the optima of some like it, and from a few screened starts.

    Outliers that one power explains as noise may be signal at the next, so that the
    optimum of one is not always near that of the other.

    Args:
        model: Of one outcome, not fitted.
        like: Fitted, of the same structure.
    """
    objective = model.log_posterior()
    generator = seeding.generator("refit", model.seed)
    draws = draw_starts(objective, generator)[THINNED - 1 :: THINNED]
    rows = torch.randperm(objective.num_data, generator=generator)[:SCREEN_ROWS]
    screen = objective.on_rows(rows.to(draws.device))
    screened, _ = screen_starts(screen, draws, SCREENED)
    warm = torch.stack([other.theta() for other in like])
    model.starts = 0
    return model.fit(warm=torch.cat([warm, screened]))


def log_prior(power: float) -> float:
    """Log density of λ up to a constant: a normal, cut to the powers that exist."""
    value = torch.tensor(power, dtype=torch.float64)
    return outcome_power().log_prob(value).item()
