"""From the name of an acquisition to what Ax's generator is built with."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

from ax.core.experiment import Experiment
from ax.core.parameter import ChoiceParameter, Parameter, ParameterType, RangeParameter
from ax.core.search_space import SearchSpace
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.optim.optimize_mixed import ALTERNATING_OPTIMIZER_THRESHOLD

from bokern.acquisition import (
    GPUCB,
    FiniteSchedule,
    IntegratedVariance,
    KnowledgeGradient,
    LogEI,
    MaxValueEntropy,
    ThompsonSample,
    Uncertainty,
)
from bokern.errors import SpaceError

ACQUISITIONS = ("logei", "qlognei", "gp-ucb", "kg", "mes", "thompson", "nipv")
CLASSES: dict[str, type[AcquisitionFunction]] = {
    "logei": LogEI,
    "qlognei": qLogNoisyExpectedImprovement,
    "kg": KnowledgeGradient,
    "mes": MaxValueEntropy,
    "thompson": ThompsonSample,
    "nipv": IntegratedVariance,
}
OPTIONS: dict[str, tuple[str, ...]] = {"gp-ucb": ("delta", "scale")}
"""Options of the acquisitions that have any."""


WALK_BURNIN, WALK_THINNING = 256, 2
"""Steps of the random walk within constraints, before the first start and between."""

ACQUISITION_KEYS = ("botorch_acqf_class", "botorch_acqf_options")
"""Arguments of Ax's generator that belong to an acquisition."""


def check_acquisition(name: str) -> str:
    """The name itself, if there is such an acquisition.

    Raises:
        SpaceError: If there is none.
    """
    if name not in ACQUISITIONS:
        raise SpaceError(
            f"unknown acquisition {name!r}: expected one of {', '.join(ACQUISITIONS)}"
        )
    return name


def check_options(name: str, options: Mapping[str, Any] | None) -> dict[str, float]:
    """The options of an acquisition as plain numbers.

    Args:
        name: Name of the acquisition.
        options: ``delta`` and ``scale`` of the schedules of GP-UCB; None for none.

    Raises:
        SpaceError: If the acquisition has no such option, or a value is out of range.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise SpaceError(
            "acquisition_options= expects a dictionary such as {'delta': 0.1}, got "
            f"{options!r:.60}"
        )
    known = OPTIONS.get(name, ())
    for option, value in options.items():
        if option not in known:
            raise SpaceError(
                f"acquisition {name!r} has no option {option!r}: it takes "
                f"{' and '.join(known) or 'none'}"
            )
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise SpaceError(
                f"acquisition_options= expects a number as {option!r}, got {value!r}"
            )
    found = {option: float(value) for option, value in options.items()}
    if found:
        FiniteSchedule(1, **found)
    return found


def acquisition_kwargs(
    name: str, experiment: Experiment, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Keyword arguments of Ax's BoTorch generator.

    For one objective the acquisition is as named; with outcome constraints Ax takes the
    log noisy expected improvement that handles them in place of the first two. For
    several objectives Ax chooses the log expected hypervolume improvement.

    Args:
        name: Name of the acquisition.
        experiment: The experiment.
        options: Of the acquisition, beside what follows from the space.

    Raises:
        SpaceError: If it is asked to handle several objectives and cannot.
    """
    expected_improvement = name in ("logei", "qlognei")
    if not has_one_objective(experiment):
        if not expected_improvement:
            raise SpaceError(
                f"{name} handles one objective: use acquisition='logei' or 'qlognei' "
                "for this experiment"
            )
        return {}
    if expected_improvement and _is_constrained(experiment):
        return {}
    if name in CLASSES:
        return {"botorch_acqf_class": CLASSES[name]}
    size = space_size(experiment.search_space)
    finite = {} if size is None else {"size": size}
    return {
        "botorch_acqf_class": GPUCB,
        "botorch_acqf_options": {**finite, **(options or {})},
    }


def has_one_objective(experiment: Experiment) -> bool:
    """Whether there is one objective, whatever is constrained."""
    config = experiment.optimization_config
    return config is None or not config.is_moo_problem


def _is_constrained(experiment: Experiment) -> bool:
    config = experiment.optimization_config
    return config is not None and bool(config.outcome_constraints)


def exploring(generator_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments with which Ax's generator goes where its model knows least."""
    others = {k: v for k, v in generator_kwargs.items() if k not in ACQUISITION_KEYS}
    return {**others, "botorch_acqf_class": Uncertainty}


def gen_kwargs(space: SearchSpace) -> dict[str, Any]:
    """Arguments of the ``gen`` of Ax's BoTorch generator.

    BoTorch draws the starts of an acquisition's optimisation under constraints by a
    random walk in Python, which by its defaults takes 40,000 steps: tens of seconds a
    candidate. Starts need not be independent draws. Where discrete parameters have many
    combinations BoTorch takes turns between the kinds, and refuses options of the walk.
    """
    if not space.parameter_constraints or space_size(space) is not None:
        return {}
    kwargs: dict[str, Any] = {"num_restarts": 5, "raw_samples": 256}
    if _combinations(space) <= ALTERNATING_OPTIMIZER_THRESHOLD:
        walk = {"n_burnin": WALK_BURNIN, "n_thinning": WALK_THINNING}
        kwargs["options"] = walk
    return {"model_gen_options": {"optimizer_kwargs": kwargs}}


def _combinations(space: SearchSpace) -> int:
    """Of discrete values, at the most; an unordered choice has a column for each."""
    counts = [
        2 ** len(p.values)
        if isinstance(p, ChoiceParameter) and not p.is_ordered
        else _count(p)
        for p in space.tunable_parameters.values()
    ]
    return math.prod(count for count in counts if count is not None)


def merged(
    acquisition: Mapping[str, Any], generator_kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Both sets of keyword arguments; the second wins, option by option."""
    key = "botorch_acqf_options"
    both = {**acquisition, **generator_kwargs}
    if key in acquisition and generator_kwargs.get(key):
        both[key] = {**acquisition[key], **generator_kwargs[key]}
    return both


def space_size(space: SearchSpace) -> int | None:
    """Number of points of a discrete space; None if any parameter is continuous."""
    counts = [_count(p) for p in space.tunable_parameters.values()]
    known = [count for count in counts if count is not None]
    return math.prod(known) if len(known) == len(counts) else None


def _count(parameter: Parameter) -> int | None:
    if isinstance(parameter, ChoiceParameter):
        return len(parameter.values)
    if (
        isinstance(parameter, RangeParameter)
        and parameter.parameter_type == ParameterType.INT
    ):
        return int(parameter.upper) - int(parameter.lower) + 1
    return None
