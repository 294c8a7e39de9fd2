"""Whether the inputs can tell a symmetric prior from the same one without symmetry."""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor
from torch.distributions import MultivariateNormal, kl_divergence

from bokern.fitting import LogPosterior, fit_map
from bokern.kernels import ViewSumKernel, without_symmetry
from bokern.models import StructuredGP
from bokern.numerics import cholesky

BLIND_BELOW = 1.0
"""Nats of divergence below which the inputs do not test an invariance."""

PLAIN_STARTS = 4


def is_blind(model: StructuredGP) -> bool:
    """Whether the inputs do not test the symmetry of a fitted model.

    Under the hyperparameters fitted with the symmetry, and under those fitted without:
    a symmetry that the data refute is fitted as noise, where all priors look alike.
    """
    objectives = _objectives(model)
    if objectives is None:
        return False
    symmetric, plain = objectives
    if _divergence(symmetric, plain, symmetric.get()) >= BLIND_BELOW:
        return False
    fitted = fit_map(plain, starts=PLAIN_STARTS, seed=model.seed, warm=symmetric.get())
    theta = symmetric.z.new_tensor(fitted.theta)
    return _divergence(symmetric, plain, theta) < BLIND_BELOW


def symmetry_divergence(model: StructuredGP) -> float | None:
    """``KL(p(y | symmetric) ‖ p(y | plain))`` at the model's θ, in nats.

    The plain prior has the same hyperparameters and a single view. None for a model
    without symmetry.
    """
    objectives = _objectives(model)
    return None if objectives is None else _divergence(*objectives, objectives[0].get())


def _objectives(model: StructuredGP) -> tuple[LogPosterior, LogPosterior] | None:
    if not any(isinstance(m, ViewSumKernel) for m in model.covar_module.modules()):
        return None
    symmetric = model.log_posterior()
    plain = LogPosterior(
        deepcopy(model.mean_module),
        without_symmetry(model.covar_module),
        deepcopy(model.likelihood),
        symmetric.X,
        symmetric.z,
    )
    return symmetric, plain


def _divergence(symmetric: LogPosterior, plain: LogPosterior, theta: Tensor) -> float:
    with torch.no_grad():
        laws = [_law(objective, theta) for objective in (symmetric, plain)]
        return kl_divergence(*laws).item()


def _law(objective: LogPosterior, theta: Tensor) -> MultivariateNormal:
    mean, K, noise = objective.moments(theta)
    L, _ = cholesky(K + torch.diag_embed(noise))
    return MultivariateNormal(mean, scale_tril=L, validate_args=False)
