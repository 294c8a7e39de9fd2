"""The evidence by sequential Monte Carlo over hyperparameters."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import cast

import numpy as np

from bokern.errors import ComparisonError, InputError
from bokern.evidence.data import data_fingerprint, log_jacobian
from bokern.evidence.laplace import laplace
from bokern.evidence.result import Evidence
from bokern.evidence.tempering import Tempered, tempered
from bokern.models import StructuredGP

MAX_HYPERPARAMETERS, MAX_ROWS = 30, 150
"""Up to these a run takes seconds to minutes."""

PARTICLES, REPLICATES = 256, 5
LEAST_PARTICLES, LEAST_REPLICATES = 32, 5
"""From two replicates a standard error is so rough that 2.5 of them cover 70 %."""

LEAST_ERROR = 0.2
"""Nats below which the spread of few replicates is not believed."""

HALF_WIDTH = 2.5
"""Standard errors to either side of an interval."""


@dataclass(frozen=True)
class SMCResult:
    """An evidence with the run that it comes from.

    Args:
        evidence: Of integration ``"smc"``.
        run: Each replicate's estimate, the likelihood evaluations, and the best θ seen.
    """

    evidence: Evidence
    run: Tempered


def smc_applies(hyperparameters: int, rows: int) -> bool:
    """Whether a model is small enough: 1 ≤ k ≤ 30 and n ≤ 150."""
    return 1 <= hyperparameters <= MAX_HYPERPARAMETERS and rows <= MAX_ROWS


def smc(
    model: StructuredGP,
    *,
    particles: int = PARTICLES,
    replicates: int = REPLICATES,
    seed: int = 0,
    fitted: Evidence | None = None,
) -> Evidence:
    """The log evidence of a fitted model's structure, its θ integrated out by sampling.

    See `run_smc`, which returns the run with it.
    """
    return run_smc(
        model, particles=particles, replicates=replicates, seed=seed, fitted=fitted
    ).evidence


def run_smc(
    model: StructuredGP,
    *,
    particles: int = PARTICLES,
    replicates: int = REPLICATES,
    seed: int = 0,
    fitted: Evidence | None = None,
) -> SMCResult:
    r"""Integrates θ out by tempered sequential Monte Carlo.

    $$\log Z = \log \frac1R \sum_r \hat Z_r + \log|T'|, \qquad
      se = \frac{sd(\hat Z_r)}{\sqrt R\, \bar Z} \ge .2$$

    on the scale of `laplace`, with an interval of 2.5 standard errors to either side.
    It does not rest on the fit: what the evidence says of the optimum, the effective
    number of hyperparameters included, is Laplace's, and so are the flags but
    NOT_AT_OPTIMUM.

    Cost: see `tempered`; tens of thousands of likelihoods.

    Args:
        model: One outcome, fitted by MAP.
        particles: In each replicate, at least 32.
        replicates: At least 5.
        seed: A seed and a structure are a run.
        fitted: The Laplace evidence of the model, if it is at hand.

    Raises:
        InputError: If there are too few particles or replicates.
        EvidenceError: Where `laplace` raises it, or if the likelihood fails everywhere.
        ComparisonError: If ``fitted`` is of other data.

    References:
        [SMC]; [WasteFree]
    """
    _check_whole("particles", particles, LEAST_PARTICLES)
    _check_whole("replicates", replicates, LEAST_REPLICATES)
    fitted = laplace(model) if fitted is None else fitted
    if fitted.data_fingerprint != data_fingerprint(model):
        raise ComparisonError(
            "fitted is expected as the evidence of this model, got one of other data "
            f"({fitted.data_fingerprint!r}): leave it out to have it computed"
        )
    began = time.perf_counter()
    run = tempered(
        model.log_posterior(),
        particles=particles,
        replicates=replicates,
        seed=f"{seed} {model.structure}",
    )
    log_mean, spread = combined(run.log_evidence)
    value = log_mean + log_jacobian(model)
    error = max(LEAST_ERROR, spread)
    evidence = replace(
        fitted,
        log_evidence=value,
        integration="smc",
        standard_error=error,
        lower=value - HALF_WIDTH * error,
        upper=value + HALF_WIDTH * error,
        seconds=fitted.seconds + time.perf_counter() - began,
        flags=tuple(f for f in fitted.flags if f != "NOT_AT_OPTIMUM"),
    )
    return SMCResult(evidence, run)


def combined(log_evidence: Sequence[float]) -> tuple[float, float]:
    """Logarithm of the mean of Z over replicates, and its standard error in nats.

    By the delta method: the relative standard error of the mean.
    """
    values = np.asarray(log_evidence)
    top = values.max()
    relative = np.exp(values - top)
    mean = relative.mean()
    error = relative.std(ddof=1) / math.sqrt(len(values)) / mean
    return float(top + np.log(mean)), float(error)


def _check_whole(name: str, value: object, least: int) -> None:
    # Not bokern.inputs.is_whole, which would bring pandas into this layer.
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or cast(int, value) < least:
        raise InputError(f"{name} is a whole number >= {least}, got {value!r}")
