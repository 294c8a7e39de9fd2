"""How BoTorch and Ax build our acquisitions from a model and its training data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from botorch.acquisition.input_constructors import (
    ACQF_INPUT_CONSTRUCTOR_REGISTRY,
    acqf_input_constructor,
    get_best_f_analytic,
)
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.datasets import SupervisedDataset
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from bokern.acquisition.feasible import LogProbability, likely_points
from bokern.acquisition.integrated_variance import IntegratedVariance
from bokern.acquisition.knowledge_gradient import KnowledgeGradient
from bokern.acquisition.log_ei import LogEI
from bokern.acquisition.max_value import MaxValueEntropy
from bokern.acquisition.schedules import ContinuousSchedule, FiniteSchedule, Schedule
from bokern.acquisition.thompson import ThompsonSample
from bokern.acquisition.ucb import GPUCB
from bokern.acquisition.uncertainty import Uncertainty

INTEGRATED = 256
"""Points over which a variance is averaged."""

LARGEST_AMONG = 512
"""Points among which the largest value is drawn for max-value entropy."""

LOOKED_AHEAD = 256
"""Points at which the knowledge gradient looks for the best mean, beside those seen."""

DRAWN = 4
"""Points drawn for each that is wanted, where some of them are not feasible."""

TrainingData = SupervisedDataset | dict[Hashable, SupervisedDataset]


def construct_gp_ucb(
    model: Model,
    training_data: TrainingData,
    bounds: list[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
    size: int | None = None,
    delta: float = 0.1,
    scale: float = 0.2,
) -> dict[str, Any]:
    """Arguments of `GPUCB`.

    Args:
        model: The fitted model, which scales its inputs to the unit cube.
        training_data: What it was fitted to; the rows of the largest set are counted.
        bounds: One pair a column.
        posterior_transform: Passed on.
        X_pending: Passed on.
        size: Number of candidates of a finite space; None for a box.
        delta: See the schedules.
        scale: See the schedules.
    """
    schedule: Schedule = (
        ContinuousSchedule(len(bounds), delta=delta, scale=scale)
        if size is None
        else FiniteSchedule(size, delta=delta, scale=scale)
    )
    return {
        "model": model,
        "schedule": schedule,
        "observations": len(_inputs(training_data)),
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
    }


def construct_log_ei(
    model: Model,
    training_data: TrainingData,
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
    best_f: float | Tensor | None = None,
) -> dict[str, Any]:
    """Arguments of `LogEI`; ``best_f`` is the best observation unless given."""
    if best_f is None:
        best_f = get_best_f_analytic(
            training_data=training_data, posterior_transform=posterior_transform
        )
    return {
        "model": model,
        "best_f": best_f,
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
    }


def construct_uncertainty(
    model: Model,
    training_data: TrainingData,
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
) -> dict[str, Any]:
    """Arguments of `Uncertainty`."""
    return {
        "model": model,
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
    }


def construct_knowledge_gradient(
    model: Model,
    training_data: TrainingData,
    bounds: list[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
    probabilities: Sequence[LogProbability] = (),
) -> dict[str, Any]:
    """Arguments of `KnowledgeGradient`: points seen, and others that fill the box."""
    seen = _inputs(training_data)
    filling = _filling(model, bounds, LOOKED_AHEAD, probabilities)
    if probabilities:
        seen = likely_points(seen, probabilities, len(seen))
    return {
        "model": model,
        "points": torch.cat([seen.to(filling), filling]),
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
    }


def construct_max_value_entropy(
    model: Model,
    training_data: TrainingData,
    bounds: list[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
    probabilities: Sequence[LogProbability] = (),
) -> dict[str, Any]:
    """Arguments of `MaxValueEntropy`; its seed follows torch's global one.

    ``probabilities`` are as `construct_integrated_variance` takes them.
    """
    return {
        "model": model,
        "points": _filling(model, bounds, LARGEST_AMONG, probabilities),
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
        "seed": int(torch.randint(2**31, ())),
    }


def construct_integrated_variance(
    model: Model,
    training_data: TrainingData,
    bounds: list[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
    probabilities: Sequence[LogProbability] = (),
) -> dict[str, Any]:
    """Arguments of `IntegratedVariance`.

    Args:
        model: Passed on.
        training_data: Not looked at.
        bounds: Of the box.
        posterior_transform: Passed on.
        X_pending: Passed on.
        probabilities: That points are feasible; those that rather are not do not count.
    """
    return {
        "model": model,
        "points": _filling(model, bounds, INTEGRATED, probabilities),
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
    }


def construct_thompson(
    model: Model,
    training_data: TrainingData,
    bounds: list[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
) -> dict[str, Any]:
    """Arguments of `ThompsonSample`; its seed follows torch's global one."""
    return {
        "model": model,
        "bounds": _box(model, bounds),
        "posterior_transform": posterior_transform,
        "near": _inputs(training_data),
        "seed": int(torch.randint(2**31, ())),
    }


def _box(model: Model, bounds: list[tuple[float, float]]) -> Tensor:
    like = next(model.parameters())
    return torch.tensor(bounds, dtype=like.dtype, device=like.device).mT


def _filling(
    model: Model,
    bounds: list[tuple[float, float]],
    count: int,
    probabilities: Sequence[LogProbability],
) -> Tensor:
    """Points that fill the feasible part of the box, the same at each call."""
    drawn = count * DRAWN if probabilities else count
    points = draw_sobol_samples(_box(model, bounds), drawn, 1, seed=0).squeeze(-2)
    return likely_points(points, probabilities, count)


def _inputs(training_data: TrainingData) -> Tensor:
    """Those of the largest data set."""
    data = training_data if isinstance(training_data, dict) else {"": training_data}
    return max((dataset.X for dataset in data.values()), key=len)


def register_input_constructors() -> None:
    """Makes our acquisitions known to BoTorch; doing it again changes nothing."""
    for acquisition, constructor in (
        (GPUCB, construct_gp_ucb),
        (LogEI, construct_log_ei),
        (Uncertainty, construct_uncertainty),
        (KnowledgeGradient, construct_knowledge_gradient),
        (MaxValueEntropy, construct_max_value_entropy),
        (IntegratedVariance, construct_integrated_variance),
        (ThompsonSample, construct_thompson),
    ):
        if acquisition not in ACQF_INPUT_CONSTRUCTOR_REGISTRY:
            acqf_input_constructor(acquisition)(constructor)
