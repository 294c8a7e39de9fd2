"""Leave-one-out prediction in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from bokern.evidence.data import check_single, log_jacobian, raw_data
from bokern.models import StructuredGP
from bokern.numerics import cholesky


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictions of each observation from all others, at fixed θ, in raw units.

    Args:
        mean: ``n``.
        variance: Of the noisy observation, ``n``.
        log_density: Of the observation under the prediction, ``n``, nats.
    """

    mean: Tensor
    variance: Tensor
    log_density: Tensor


def leave_one_out(model: StructuredGP) -> LeaveOneOut:
    r"""Predicts each observation without it, from one inverse.

    With $K$ the covariance with noise and $\alpha = K^{-1}(z - m)$: mean
    $z_i - \alpha_i / K^{-1}_{ii}$ and variance $1 / K^{-1}_{ii}$.

    Cost: O(n³) time, O(n²) memory.

    References:
        [GPML] eq. 5.12
    """
    check_single(model)
    objective = model.log_posterior(use_prior=False)
    with torch.no_grad():
        mean, K, noise = objective.moments(objective.get())
        L, _ = cholesky(K + torch.diag_embed(noise))
        inverse = torch.cholesky_inverse(L)
        alpha = inverse @ (objective.z - mean)
        variance = inverse.diagonal().reciprocal()
        residual = alpha * variance
        density = -0.5 * (
            residual.square() / variance + variance.log() + math.log(2.0 * math.pi)
        )
        _, y = raw_data(model)
        n = objective.num_data
        jacobian = log_jacobian(model) / n
        scale = math.exp(-jacobian)
    return LeaveOneOut(y - residual * scale, variance * scale**2, density + jacobian)
