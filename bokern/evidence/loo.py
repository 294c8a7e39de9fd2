"""Leave-one-out prediction in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bokern.evidence.data import check_single, target_log_slopes
from bokern.models import StructuredGP
from bokern.models.outcome_steps import raw_moments
from bokern.numerics import LOG_2PI


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictions of each observation from all others, at fixed θ, in raw units.

    Args:
        mean: ``n``.
        variance: Of the noisy observation, ``n``.
        log_density: Of the observation under the prediction, ``n``, nats.
        residual: Of the observation, in standard deviations and after the outcome
            transform, where predictions are Gaussian, ``n``: standard normal when
            they are calibrated.
    """

    mean: Tensor
    variance: Tensor
    log_density: Tensor
    residual: Tensor


def leave_one_out(model: StructuredGP) -> LeaveOneOut:
    r"""Predicts each observation without it, from one inverse.

    With $K$ the covariance with noise and $\alpha = K^{-1}(z - m)$: mean
    $z_i - \alpha_i / K^{-1}_{ii}$ and variance $1 / K^{-1}_{ii}$.

    Cost: O(n³) time, O(n²) memory; O(n) for a `StateSpaceGP` or `WeightSpaceGP`.

    References:
        [GPML] eq. 5.12
    """
    check_single(model)
    objective = model.log_posterior(use_prior=False)
    alpha, diagonal = objective.inverse_terms(objective.get())
    with torch.no_grad():
        variance = diagonal.reciprocal()
        residual = alpha * variance
        score = residual / variance.sqrt()
        density = -0.5 * (score.square() + variance.log() + LOG_2PI)
        density = density + target_log_slopes(model)
        transform = getattr(model, "outcome_transform", None)
        raw = raw_moments(transform, objective.z - residual, variance)
    return LeaveOneOut(*raw, density, score)
