"""SMAC's facade for expensive black boxes, a Gaussian process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from ConfigSpace import (
    CategoricalHyperparameter,
    Configuration,
    ConfigurationSpace,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialValue

from benchmarks.optimise.peers.protocol import Dimension, Point, Setup


class SmacBlackBox:
    """It is asked for the shared points first, and told their values.

    Where values are measurements it measures promising points again before it goes on,
    shared ones too, as its authors mean it to.
    """

    def __init__(self, setup: Setup) -> None:
        np.random.seed(setup.seed)  # noqa: NPY002
        self._space = ConfigurationSpace(seed=setup.seed)
        self._space.add([_hyperparameter(d) for d in setup.space])
        scenario = Scenario(
            self._space,
            deterministic=not setup.noisy,
            n_trials=setup.budget,
            seed=setup.seed,
            output_directory=Path("smac"),
        )
        self._known = {
            Configuration(self._space, values=dict(point)): value
            for point, value in zip(setup.initial, setup.values, strict=True)
        }
        self._smac = BlackBoxFacade(
            scenario,
            _never_called,
            initial_design=BlackBoxFacade.get_initial_design(
                scenario, n_configs=0, additional_configs=list(self._known)
            ),
            logging_level=False,
            overwrite=True,
        )

    def ask(self) -> Point:
        """The next point to evaluate."""
        self._trial = self._smac.ask()
        while self._trial.config in self._known:
            self._tell(self._known.pop(self._trial.config))
            self._trial = self._smac.ask()
        return {name: float(x) for name, x in self._trial.config.items()}

    def tell(self, point: Point, value: float) -> None:
        """The value of the point that was asked for last."""
        self._tell(value)

    def _tell(self, value: float) -> None:
        self._smac.tell(self._trial, TrialValue(cost=value))


def _hyperparameter(
    dimension: Dimension,
) -> (
    UniformFloatHyperparameter
    | UniformIntegerHyperparameter
    | CategoricalHyperparameter
):
    name = dimension.name
    if dimension.kind == "real":
        return UniformFloatHyperparameter(name, dimension.low, dimension.high)
    if dimension.kind == "ordered":
        return UniformIntegerHyperparameter(name, 0, dimension.count - 1)
    return CategoricalHyperparameter(name, list(range(dimension.count)))


def _never_called(config: Configuration, seed: int = 0) -> float:
    raise RuntimeError("values are told, not computed")
