"""What identifies a data set, and what its transform does to densities."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import torch
from botorch.models.transforms.outcome import OutcomeTransform
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from torch import Tensor

from bokern.errors import EvidenceError
from bokern.models import StructuredGP
from bokern.models.outcome_steps import log_slopes, nonlinear_steps

NOISE_DIGITS = 6
"""Significant digits in which known variances are told apart."""


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
    return _digest(rows + 0.0)


def likelihood_name(model: StructuredGP) -> str:
    """The kind of the likelihood, and which variances are known if they are.

    The same under all outcome transforms, so that their evidences compare: noise that
    is inferred is Gaussian after the transform.

    Raises:
        EvidenceError: If known variances went through a transform that is not linear.
    """
    if not isinstance(model.likelihood, FixedNoiseGaussianLikelihood):
        return "gaussian"
    if nonlinear_steps(_transform(model)):
        raise EvidenceError(
            "known variances are of raw targets, and have no exact counterpart after "
            "an outcome transform that is not linear: infer the noise, or use "
            "Standardize"
        )
    scale = math.exp(-log_jacobian(model) / model.train_targets.shape[-1])
    noise = model.likelihood.noise.detach().double().cpu().numpy() * scale**2
    rounded = np.array([f"{v:.{NOISE_DIGITS}g}" for v in noise.flatten()])
    return f"gaussian, known noise {_digest(rounded)}"


def _digest(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:12]


def target_log_slopes(model: StructuredGP) -> Tensor:
    """``log |T'(y_i)|`` of the outcome transform at each raw target, ``n``.

    −log s for `Standardize`, −log y for `Log`; those of a chain are summed.

    Raises:
        EvidenceError: If a transform's Jacobian is not known.
    """
    Y = model.raw_targets.double()
    return log_slopes(_transform(model), Y).squeeze(-1)


def log_jacobian(model: StructuredGP) -> float:
    """``Σ log |T'(y_i)|`` of the outcome transform, nats.

    Raises:
        EvidenceError: If a transform's Jacobian is not known.
    """
    return target_log_slopes(model).sum().item()


def _transform(model: StructuredGP) -> OutcomeTransform | None:
    return getattr(model, "outcome_transform", None)


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
