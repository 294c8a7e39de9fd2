"""Ax's acquisition, which also counts on constraints kept and evaluations that succeed.

Ax's own log expected improvements handle outcome constraints by themselves; every other
acquisition is multiplied by the probability that they are kept, and all of them by the
probability that the evaluation succeeds, once one has failed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from ax.adapter.base import Adapter
from ax.core.arm import Arm
from ax.core.experiment import Experiment
from ax.core.observation import ObservationFeatures
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from ax.generators.torch.botorch_modular.generator import BoTorchGenerator
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.monte_carlo import SampleReducingMCAcquisitionFunction
from botorch.acquisition.multi_objective.base import (
    MultiObjectiveMCAcquisitionFunction,
)
from botorch.models.model import Model
from botorch.utils.sampling import draw_sobol_samples
from torch import Tensor

from bokern.acquisition import (
    Feasible,
    IntegratedVariance,
    KnowledgeGradient,
    MaxValueEntropy,
    OutcomesFeasible,
)
from bokern.acquisition.feasible import LogProbability
from bokern.ax.occupied import failed_arms
from bokern.errors import FitWarning
from bokern.models import SuccessGP

MOST_FAILED, MOST = 75, 150
"""Failed evaluations, and all, that the probability of success is learned from: the
last ones of each kind."""

SUCCESS = "success"
"""Option of `FeasibleAcquisition`."""

HANDLE_CONSTRAINTS = (
    SampleReducingMCAcquisitionFunction,
    MultiObjectiveMCAcquisitionFunction,
)
"""Acquisitions of BoTorch that are given the constraints."""

WITH_POINTS = (KnowledgeGradient, MaxValueEntropy, IntegratedVariance)
"""Acquisitions that look at the rest of the box, of which the feasible part counts."""

FILLING = 256
"""Points over which the lowest value of an acquisition is sought."""


class FeasibleAcquisition(Acquisition):
    """Ax's wrapper of an acquisition, which multiplies it by feasibility.

    Without outcome constraints and failures it is Ax's own.
    """

    def _construct_botorch_acquisition(
        self,
        botorch_acqf_class: type[AcquisitionFunction],
        botorch_acqf_options: dict[str, Any],
        model: Model,
    ) -> AcquisitionFunction:
        probabilities = self._probabilities(botorch_acqf_class, model)
        options = dict(botorch_acqf_options)
        if issubclass(botorch_acqf_class, WITH_POINTS):
            options["probabilities"] = probabilities
        base = super()._construct_botorch_acquisition(
            botorch_acqf_class, options, model
        )
        return Feasible(base, probabilities, self._filling()) if probabilities else base

    def _probabilities(
        self, botorch_acqf_class: type[AcquisitionFunction], model: Model
    ) -> list[LogProbability]:
        found: list[LogProbability] = []
        constraints = self._outcome_constraints
        if constraints and not issubclass(botorch_acqf_class, HANDLE_CONSTRAINTS):
            found.append(OutcomesFeasible(model, *constraints))
        success = self.options.get(SUCCESS)
        if success is not None:
            low, high = self._box()

            def log_probability(X: Tensor) -> Tensor:
                unit: Tensor = (X - low) / (high - low)
                return success.log_probability(unit).to(X)

            found.append(log_probability)
        return found

    def _box(self) -> Tensor:
        bounds = self.search_space_digest.bounds
        return torch.tensor(bounds, dtype=self.dtype, device=self.device).T

    def _filling(self) -> Tensor:
        return draw_sobol_samples(self._box(), FILLING, 1, seed=0).squeeze(-2)


def teach_success(
    adapter: Adapter | None, experiment: Experiment, known: SuccessGP | None = None
) -> SuccessGP | None:
    """Lets a fitted generator know where evaluations failed, if any did.

    Args:
        adapter: With a fitted BoTorch generator.
        experiment: Whose trials succeeded or failed.
        known: What was learned before; taken again if nothing ended since.

    Returns:
        What was learned, if anything.
    """
    generator = adapter.generator if adapter is not None else None
    if not isinstance(generator, BoTorchGenerator):
        return None
    assert adapter is not None
    generator.acquisition_options.pop(SUCCESS, None)
    failed = failed_arms(experiment)[-MOST_FAILED:]
    if not failed:
        return None
    done = [
        arm
        for trial in experiment.trials.values()
        if trial.status.is_completed
        for arm in trial.arms
    ][-(MOST - len(failed)) :]
    try:
        X = _unit(adapter, [*failed, *done]).to(generator.device)
        succeeded = torch.arange(len(X), device=X.device) >= len(failed)
        if known is None or not known.is_of(X, succeeded):
            known = SuccessGP(X, succeeded)
    except (RuntimeError, ValueError) as error:
        warnings.warn(
            f"where evaluations fail could not be learned ({error}): their places are "
            "only avoided",
            FitWarning,
            stacklevel=2,
        )
        return None
    generator.acquisition_options[SUCCESS] = known
    return known


def knows_failures(adapter: Adapter | None) -> bool:
    """Whether a generator has learned where evaluations fail."""
    generator = adapter.generator if adapter is not None else None
    return (
        isinstance(generator, BoTorchGenerator)
        and SUCCESS in generator.acquisition_options
    )


def _unit(adapter: Adapter, arms: Sequence[Arm]) -> Tensor:
    """Points of arms in the unit cube of the model's inputs, ``n x d``."""
    features = [ObservationFeatures.from_arm(arm) for arm in arms]
    for transform in adapter.transforms.values():
        features = transform.transform_observation_features(features)
    generator = adapter.generator
    assert isinstance(generator, BoTorchGenerator)
    digest = generator.search_space_digest
    rows = [[float(f.parameters[n]) for n in digest.feature_names] for f in features]  # type: ignore[arg-type]
    low, high = torch.tensor(digest.bounds, dtype=torch.float64).T
    return (torch.tensor(rows, dtype=torch.float64) - low) / (high - low)
