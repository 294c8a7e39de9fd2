"""Predictions of a model, Gaussian or a mixture of Gaussians, and their scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from torch import Tensor

from bokern.models import MixtureGP

BLOCK = 128
"""Points predicted at a time: their joint covariance is formed and not used."""


@dataclass(frozen=True)
class Predictions:
    """Of noisy targets, in raw units.

    Args:
        weight: Of each member, ``m``.
        mean: ``m x n``.
        variance: ``m x n``, noise included.
    """

    weight: Tensor
    mean: Tensor
    variance: Tensor

    @property
    def overall_mean(self) -> Tensor:
        """Mean of the mixture, ``n``."""
        return self.weight @ self.mean

    def rmse(self, y: Tensor) -> float:
        """Root of the mean squared error of the mean."""
        return (self.overall_mean - y).square().mean().sqrt().item()

    def log_density(self, y: Tensor) -> float:
        """Mean log density of single targets, nats."""
        square = (y - self.mean).square() / self.variance
        each = -0.5 * (square + self.variance.log() + math.log(2.0 * math.pi))
        log_weight = self.weight.log().unsqueeze(-1)
        return torch.logsumexp(each + log_weight, 0).mean().item()


def predict(model: Model, X: Tensor) -> Predictions:
    """Predictions at ``n x d`` inputs.

    Members of a `MixtureGP` keep their exact weights, which its own posterior rounds.
    """
    if isinstance(model, MixtureGP):
        members = [m for m in model.members if isinstance(m, Model)]
        weight = model.weights
    else:
        members, weight = [model], X.new_ones(1)
    with torch.no_grad():
        moments = torch.stack([_moments(member, X) for member in members])
    return Predictions(weight.to(moments), moments[:, 0], moments[:, 1])


def _moments(model: Model, X: Tensor) -> Tensor:
    """Mean and variance of noisy targets, ``2 x n``."""
    parts = []
    for block in X.split(BLOCK):
        posterior = model.posterior(block, observation_noise=True)
        if not isinstance(posterior, GPyTorchPosterior):
            raise TypeError(f"scores are of Gaussians, got a {type(posterior)}")
        parts.append(torch.stack([posterior.mean, posterior.variance]).squeeze(-1))
    return torch.cat(parts, -1)
