"""What a chain of outcome transforms does to outcomes, densities and posteriors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import torch
from botorch.models.transforms.outcome import (
    ChainedOutcomeTransform,
    Log,
    OutcomeTransform,
    Standardize,
)
from botorch.models.transforms.utils import (
    norm_to_lognorm_mean,
    norm_to_lognorm_variance,
)
from botorch.posteriors import GPyTorchPosterior, Posterior, TransformedPosterior
from torch import Tensor

from bokern.errors import EvidenceError, InputError
from bokern.models.yeo_johnson import YeoJohnson

ROUNDING = 64.0
"""Machine epsilons that transforming back and forth may cost."""


def outcome_steps(transform: OutcomeTransform | None) -> list[OutcomeTransform]:
    """The transforms of a chain, in the order in which they act on raw outcomes."""
    if transform is None:
        return []
    if isinstance(transform, ChainedOutcomeTransform):
        parts = cast(Iterable[OutcomeTransform], transform.values())
        return [step for part in parts for step in outcome_steps(part)]
    return [transform]


def nonlinear_steps(transform: OutcomeTransform | None) -> list[OutcomeTransform]:
    """The steps up to the last that is not linear; none if all are linear."""
    steps = outcome_steps(transform)
    while steps and steps[-1]._is_linear:
        steps.pop()
    return steps


def log_slopes(transform: OutcomeTransform | None, Y: Tensor) -> Tensor:
    """``log |T'(y)|`` at raw outcomes, of their shape.

    Args:
        transform: Trained, of elementwise steps.
        Y: ``n x m``.

    Raises:
        EvidenceError: If a step's slope is not known.
    """
    total = torch.zeros_like(Y)
    for step in outcome_steps(transform):
        total = total + _log_slope(step, Y)
        Y = apply_step(step, Y)
    return total


def _log_slope(step: OutcomeTransform, Y: Tensor) -> Tensor:
    if isinstance(step, YeoJohnson):
        return step.log_slope(Y)
    if type(step) is Standardize:
        return -step.stdvs.to(Y).log().expand_as(Y)
    if isinstance(step, Log) and step._outputs is None:
        return -Y.log()
    raise _unknown(step)


def _unknown(step: OutcomeTransform) -> EvidenceError:
    return EvidenceError(
        f"the Jacobian of {type(step).__name__} is not known: use Log, YeoJohnson or "
        "Standardize, a chain of them, or no outcome transform"
    )


def raw_moments(
    transform: OutcomeTransform | None, mean: Tensor, variance: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean and variance of single raw outcomes, from a model's Gaussian ones, ``n``.

    Args:
        transform: Trained, with at most one step that is not linear.
        mean: ``n``, after the transform.
        variance: ``n``, after the transform.

    Raises:
        EvidenceError: If a step's moments are not known.
    """
    for step in reversed(outcome_steps(transform)):
        if type(step) is Standardize:
            s = step.stdvs.to(mean).flatten()
            mean, variance = step.means.to(mean).flatten() + s * mean, s**2 * variance
        elif isinstance(step, YeoJohnson):
            mean, variance = step.moments(mean, variance)
        elif isinstance(step, Log):
            raw = norm_to_lognorm_mean(mean, variance)
            mean, variance = raw, norm_to_lognorm_variance(mean, variance)
        else:
            raise _unknown(step)
    return mean, variance


def apply_step(step: OutcomeTransform, Y: Tensor) -> Tensor:
    """Outcomes transformed by a step as it is, which learns nothing from them."""
    training = step.training
    step.eval()
    transformed, _ = step(Y)
    step.train(training)
    return transformed


def same_step(step: OutcomeTransform | None, other: OutcomeTransform | None) -> bool:
    """Whether two steps are of one kind and in one state."""
    if step is None or other is None or type(step) is not type(other):
        return False
    a, b = step.state_dict(), other.state_dict()
    return all(torch.equal(a[name], b[name].to(a[name])) for name in a)


def recovered(
    transform: OutcomeTransform | None, given: Tensor, Y: Tensor, z: Tensor
) -> bool:
    """Whether a model's targets are still the given outcomes, up to rounding.

    Where the transform is not linear they are compared as it shows them: its inverse
    may stretch a rounding error without bound.

    Args:
        transform: Of the model.
        given: Raw outcomes, ``... x n x m``.
        Y: The model's targets, back in raw units.
        z: The model's targets.
    """
    if nonlinear_steps(transform):
        Y = z
        for step in outcome_steps(transform):
            given = apply_step(step, given)
    rounding = ROUNDING * torch.finfo(Y.dtype).eps * given.abs().max()
    return bool((Y - given).abs().max() <= rounding)


def untransformed(
    transform: OutcomeTransform | None, posterior: Posterior
) -> Posterior:
    """The raw posterior, from one that lacks only the steps up to the last non-linear.

    The other direction of `gaussian_part`.
    """
    for step in reversed(nonlinear_steps(transform)):
        posterior = step.untransform_posterior(posterior)
    return posterior


def gaussian_part(posterior: Posterior) -> GPyTorchPosterior:
    """The Gaussian below a transformed posterior; itself if it is one.

    Raises:
        InputError: If there is none.
    """
    while isinstance(posterior, TransformedPosterior):
        posterior = posterior._posterior
    if not isinstance(posterior, GPyTorchPosterior):
        raise InputError(
            f"a posterior that is Gaussian or a transform of one is expected, got a "
            f"{type(posterior).__name__}"
        )
    return posterior


def quantiles(posterior: Posterior, levels: Tensor) -> Tensor:
    """Quantiles of a posterior in raw units, ``levels x b x q x m``.

    All transforms increase, so that they are the transformed quantiles.

    Args:
        posterior: Of a model.
        levels: Probabilities, one dimension.
    """
    if isinstance(posterior, TransformedPosterior):
        inner = quantiles(posterior._posterior, levels)
        return posterior._sample_transform(inner)
    return posterior.quantile(levels)
