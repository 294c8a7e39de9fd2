"""The Bayesian information criterion."""

from __future__ import annotations

import math

from bokern.evidence.plug_in import plug_in
from bokern.models import StructuredGP


def bic(model: StructuredGP) -> float:
    """``log p(y | θ) − (k/2) log n`` at the model's θ, nats: larger is better.

    References:
        MATH section 5
    """
    objective = model.log_posterior(use_prior=False)
    penalty = 0.5 * objective.dim * math.log(objective.num_data)
    return plug_in(model) - penalty
