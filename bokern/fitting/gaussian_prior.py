"""Priors that are Gaussian in unconstrained coordinates, recognised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from gpytorch.priors import LogNormalPrior, NormalPrior, Prior
from torch import Tensor


def gaussian_moments(
    raw: Mapping[str, Tensor], is_log: Mapping[str, bool], priors: Sequence[tuple]
) -> dict[str, tuple[Tensor, Tensor]] | None:
    """Mean and standard deviation of each raw parameter, if all priors are Gaussian.

    A log-normal prior on the exponential of a raw value is, with its Jacobian, a
    normal one on the raw value itself: a quadratic in place of many small densities.

    Args:
        raw: Raw values by name, all distinct, at which the priors were read.
        is_log: Which of them are logarithms.
        priors: Each prior with the value it is a density of.

    Returns:
        Moments by name, or None unless each parameter has exactly one such prior.
    """
    moments: dict[str, tuple[Tensor, Tensor]] = {}
    for prior, value in priors:
        name = _owner(raw, is_log, prior, value)
        if name is None or name in moments:
            return None
        loc, scale = prior.loc.to(value), prior.scale.to(value)
        moments[name] = loc.expand_as(raw[name]), scale.expand_as(raw[name])
    return moments if len(moments) == len(raw) else None


def _owner(
    raw: Mapping[str, Tensor], is_log: Mapping[str, bool], prior: Prior, value: Tensor
) -> str | None:
    wants_log = isinstance(prior, LogNormalPrior)
    if not (wants_log or isinstance(prior, NormalPrior)):
        return None
    if cast(Tensor, prior.loc).numel() != 1:
        return None
    for name, parameter in raw.items():
        expected = parameter.exp() if wants_log else parameter
        if is_log[name] is wants_log and torch.equal(expected, value):
            return name
    return None
