"""What identifies a data set, and what its transform does to densities."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

from bokern.errors import EvidenceError
from bokern.models import StructuredGP

DIGITS = 8
"""Significant digits of the fingerprint: a transform and its inverse keep more."""


def raw_data(model: StructuredGP) -> tuple[Tensor, Tensor]:
    """Inputs ``n x d`` and targets ``n`` in the units in which they came."""
    training = model.training
    model.train()
    X = model.train_inputs[0]
    model.train(training)
    return X, model.raw_targets.squeeze(-1)


def data_fingerprint(model: StructuredGP) -> str:
    """Twelve hexadecimal digits that name the raw inputs and targets."""
    X, y = raw_data(model)
    rows = torch.cat([X, y.unsqueeze(-1)], -1).double().cpu().numpy()
    text = np.array2string(
        rows + 0.0,
        threshold=rows.size + 1,
        formatter={"float": f"{{:.{DIGITS}g}}".format},
    )
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def log_jacobian(model: StructuredGP) -> float:
    """``Σ log |T'(y_i)|`` of the outcome transform: −n log s for `Standardize`.

    Raises:
        EvidenceError: If the transform's Jacobian is not known.
    """
    transform = getattr(model, "outcome_transform", None)
    if transform is None:
        return 0.0
    if not isinstance(transform, Standardize):
        raise EvidenceError(
            f"the Jacobian of {type(transform).__name__} is not known: use Standardize "
            "or no outcome transform"
        )
    n = model.train_targets.shape[-1]
    return -n * float(transform.stdvs.log().sum())


def check_single(model: StructuredGP) -> None:
    """Checks that a model has one outcome and no batch.

    Raises:
        EvidenceError: If it has several.
    """
    if model.train_targets.dim() != 1:
        raise EvidenceError(
            "evidence is of one outcome without a batch, got targets of shape "
            f"{tuple(model.train_targets.shape)}: fit one model for each outcome"
        )
