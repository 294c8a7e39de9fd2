"""Predictions of a model, transforms or mixtures of Gaussians, and their scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from botorch.models.model import Model
from botorch.models.transforms.outcome import (
    ChainedOutcomeTransform,
    OutcomeTransform,
)
from torch import Tensor

from bokern.models import MixtureGP
from bokern.models.outcome_steps import (
    apply_step,
    gaussian_part,
    log_slopes,
    nonlinear_steps,
    outcome_steps,
    raw_moments,
)

BLOCK = 128
"""Points predicted at a time: their joint covariance is formed and not used."""


@dataclass(frozen=True)
class Predictions:
    """Of targets, or of the function without noise.

    Args:
        weight: Of each member, ``m``.
        mean: ``m x n``, on the scale on which the members are Gaussian.
        variance: ``m x n``, on that scale.
        outcome: What leads from raw targets to that scale; None if it is the raw one.
    """

    weight: Tensor
    mean: Tensor
    variance: Tensor
    outcome: OutcomeTransform | None = None

    @property
    def overall_mean(self) -> Tensor:
        """Mean of the mixture in raw units, ``n``."""
        shape = self.mean.shape
        mean, _ = raw_moments(
            self.outcome, self.mean.flatten(), self.variance.flatten()
        )
        return self.weight @ mean.reshape(shape)

    def at_least(self, sd: float) -> Predictions:
        """The same with no standard deviation below a number, on the Gaussian scale."""
        return replace(self, variance=self.variance.clamp_min(sd**2))

    def rmse(self, y: Tensor) -> float:
        """Root of the mean squared error of the mean."""
        return (self.overall_mean - y).square().mean().sqrt().item()

    def log_density(self, y: Tensor) -> float:
        """Mean log density of single raw targets, nats."""
        raw = z = y.unsqueeze(-1)
        for step in outcome_steps(self.outcome):
            z = apply_step(step, z)
        slope = log_slopes(self.outcome, raw).squeeze(-1)
        square = (z.squeeze(-1) - self.mean).square() / self.variance
        each = -0.5 * (square + self.variance.log() + math.log(2.0 * math.pi))
        log_weight = self.weight.log().unsqueeze(-1)
        return (torch.logsumexp(each + log_weight, 0) + slope).mean().item()


def predict(model: Model, X: Tensor, noisy: bool = True) -> Predictions:
    """Predictions at ``n x d`` inputs, of noisy targets or of the function.

    Members of a `MixtureGP`, or their draws, keep their exact weights, which its own
    posterior rounds; they share a transform of the outcomes.
    """
    weight: Tensor = X.new_ones(1)
    fitted: torch.nn.Module = model
    if isinstance(model, MixtureGP):
        weight, fitted = model.atom_weights, model.members[0]
    with torch.no_grad():
        parts = [_moments(model, block, noisy) for block in X.split(BLOCK)]
    mean, variance = torch.cat(parts, -1)
    steps = nonlinear_steps(getattr(fitted, "outcome_transform", None))
    chain = {str(number): step for number, step in enumerate(steps)}
    outcome = ChainedOutcomeTransform(**chain) if chain else None
    return Predictions(weight.to(mean), mean, variance, outcome)


def _moments(model: Model, X: Tensor, noisy: bool) -> Tensor:
    """Mean and variance on the Gaussian scale, ``2 x members x n``."""
    if isinstance(model, MixtureGP):
        law = model.atom_distribution(X, noisy)
        return torch.stack([law.mean, law.variance])
    posterior = gaussian_part(model.posterior(X, observation_noise=noisy))
    return torch.stack([posterior.mean, posterior.variance]).squeeze(-1).unsqueeze(-2)
