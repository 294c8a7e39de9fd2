"""How BoTorch and Ax build our acquisitions from a model and its training data."""

from __future__ import annotations

from collections.abc import Hashable
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

from bokern.acquisition.integrated_variance import IntegratedVariance
from bokern.acquisition.knowledge_gradient import FANTASIES, KnowledgeGradient
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
    data = training_data if isinstance(training_data, dict) else {"": training_data}
    schedule: Schedule = (
        ContinuousSchedule(len(bounds), delta=delta, scale=scale)
        if size is None
        else FiniteSchedule(size, delta=delta, scale=scale)
    )
    return {
        "model": model,
        "schedule": schedule,
        "observations": max(dataset.X.shape[-2] for dataset in data.values()),
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
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
    fantasies: int = FANTASIES,
) -> dict[str, Any]:
    """Arguments of `KnowledgeGradient`."""
    return {
        "model": model,
        "num_fantasies": fantasies,
        "posterior_transform": posterior_transform,
        "X_pending": X_pending,
    }


def construct_max_value_entropy(
    model: Model,
    training_data: TrainingData,
    bounds: list[tuple[float, float]],
    posterior_transform: PosteriorTransform | None = None,
    X_pending: Tensor | None = None,
) -> dict[str, Any]:
    """Arguments of `MaxValueEntropy`; its seed follows torch's global one."""
    return {
        "model": model,
        "points": _filling(model, bounds, LARGEST_AMONG),
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
) -> dict[str, Any]:
    """Arguments of `IntegratedVariance`."""
    return {
        "model": model,
        "points": _filling(model, bounds, INTEGRATED),
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
    data = training_data if isinstance(training_data, dict) else {"": training_data}
    return {
        "model": model,
        "bounds": _box(model, bounds),
        "posterior_transform": posterior_transform,
        "near": next(iter(data.values())).X,
        "seed": int(torch.randint(2**31, ())),
    }


def _box(model: Model, bounds: list[tuple[float, float]]) -> Tensor:
    like = next(model.parameters())
    return torch.tensor(bounds, dtype=like.dtype, device=like.device).mT


def _filling(model: Model, bounds: list[tuple[float, float]], count: int) -> Tensor:
    """Points that fill the box, the same at each call."""
    return draw_sobol_samples(_box(model, bounds), count, 1, seed=0).squeeze(-2)


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
