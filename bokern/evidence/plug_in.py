"""The likelihood of fixed hyperparameters."""

from __future__ import annotations

import torch

from bokern.evidence.data import check_single, log_jacobian
from bokern.models import StructuredGP


def plug_in(model: StructuredGP) -> float:
    """``log p(y | θ)`` at the model's present θ, nats of the raw targets."""
    check_single(model)
    objective = model.log_posterior(use_prior=False)
    with torch.no_grad():
        value = objective.log_likelihood(objective.get())
    return value.item() + log_jacobian(model)
