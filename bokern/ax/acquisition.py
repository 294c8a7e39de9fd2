"""From the name of an acquisition to what Ax's generator is built with."""

from __future__ import annotations

import math
from typing import Any

from ax.core.experiment import Experiment
from ax.core.parameter import ChoiceParameter, Parameter, ParameterType, RangeParameter
from ax.core.search_space import SearchSpace
from botorch.acquisition.logei import qLogNoisyExpectedImprovement

from bokern.acquisition import GPUCB, LogEI
from bokern.errors import SpaceError

ACQUISITIONS = ("logei", "qlognei", "gp-ucb")


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


def acquisition_kwargs(name: str, experiment: Experiment) -> dict[str, Any]:
    """Keyword arguments of Ax's BoTorch generator.

    For one objective without outcome constraints the acquisition is as named. With
    constraints or several objectives Ax chooses the member of the log expected
    improvement family that handles them.

    Raises:
        SpaceError: If GP-UCB is asked to handle constraints or several objectives.
    """
    config = experiment.optimization_config
    plain = config is None or not (config.is_moo_problem or config.outcome_constraints)
    if not plain:
        if name == "gp-ucb":
            raise SpaceError(
                "gp-ucb handles one objective without outcome constraints: use "
                "acquisition='logei' or 'qlognei' for this experiment"
            )
        return {}
    if name == "logei":
        return {"botorch_acqf_class": LogEI}
    if name == "qlognei":
        return {"botorch_acqf_class": qLogNoisyExpectedImprovement}
    size = space_size(experiment.search_space)
    options = {} if size is None else {"size": size}
    return {"botorch_acqf_class": GPUCB, "botorch_acqf_options": options}


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
