"""Points that a new candidate should keep away from."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ax.core.arm import Arm
from ax.core.experiment import Experiment
from ax.core.observation import ObservationFeatures
from ax.core.parameter import ChoiceParameter, Parameter, RangeParameter

from bokern.ax.acquisition import space_size

CLOSE = 1e-3
"""Share of every parameter's range within which a point fails as another did."""

SAME = 1e-4
"""Share of every parameter's range within which a point tells nothing new: about
1e-8 of what a smooth function rises across the range."""


def to_avoid(
    experiment: Experiment,
    pending: Mapping[str, list[ObservationFeatures]] | None,
    failed: bool = True,
) -> dict[str, list[ObservationFeatures]]:
    """Pending points and, unless told otherwise, those of failed trials, by metric.

    A failed trial leaves no data, so that a model that proposed it would propose it
    again without end, unless it learned where evaluations fail. Pending points are
    believed to return the posterior mean, which moves the acquisition elsewhere without
    inventing a value.

    Args:
        experiment: The experiment.
        pending: Points under evaluation, by the metric's signature.
        failed: Whether points of failed trials are among them.
    """
    arms = failed_arms(experiment) if failed else []
    places = [ObservationFeatures.from_arm(arm) for arm in arms]
    # Ax transforms them in place, for each metric: none may share them with another.
    return {
        metric.signature: [
            features.clone()
            for features in [*(pending or {}).get(metric.signature, []), *places]
        ]
        for metric in experiment.metrics.values()
    }


def repeats(experiment: Experiment, arm: Arm) -> bool:
    """Whether a candidate is as good as a point that was tried or failed."""
    tried = (a for trial in experiment.trials.values() for a in trial.arms)
    return any(_close(experiment, arm, each, SAME) for each in tried) or any(
        _close(experiment, arm, failed, CLOSE) for failed in failed_arms(experiment)
    )


def failed_arms(experiment: Experiment) -> list[Arm]:
    """The arms of failed trials."""
    return [
        arm
        for trial in experiment.trials.values()
        if trial.status.is_failed
        for arm in trial.arms
    ]


def is_exhausted(experiment: Experiment) -> bool:
    """Whether each point of a finite space has been tried, successfully or not.

    Ax notices by itself, after ten thousand rejected draws a trial.
    """
    space = experiment.search_space
    size = space_size(space)
    if size is None or size > sum(len(t.arms) for t in experiment.trials.values()):
        return False
    tried = {
        arm.signature
        for trial in experiment.trials.values()
        for arm in trial.arms
        if space.check_membership(arm.parameters)
    }
    return len(tried) >= size


def _close(experiment: Experiment, one: Arm, other: Arm, share: float) -> bool:
    return all(
        _near(parameter, one.parameters.get(name), other.parameters.get(name), share)
        for name, parameter in experiment.search_space.parameters.items()
    )


def _near(parameter: Parameter, a: object, b: object, share: float) -> bool:
    one, other = place_of(parameter, a), place_of(parameter, b)
    if not isinstance(parameter, RangeParameter) or one is None or other is None:
        return a == b
    return abs(one - other) <= share


def place_of(parameter: Parameter, value: object) -> float | None:
    """Where a value lies in its parameter's range, from 0 to 1 as the model sees it.

    Values of a choice lie in their order, or 1 apart if they have none. None for what
    is no value of the parameter.
    """
    if isinstance(parameter, RangeParameter) and isinstance(value, int | float):
        low, high = parameter.lower, parameter.upper
        if parameter.log_scale:
            if value <= 0.0:
                return None
            low, high, value = map(math.log, (low, high, value))
        return float((value - low) / (high - low))
    if isinstance(parameter, ChoiceParameter) and value in parameter.values:
        place = parameter.values.index(value)
        return place / max(1, len(parameter.values) - 1 if parameter.is_ordered else 1)
    return None
