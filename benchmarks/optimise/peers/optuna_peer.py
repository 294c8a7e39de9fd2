"""Optuna's samplers, which take the shared points in place of random ones."""

from __future__ import annotations

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, GPSampler, TPESampler

from benchmarks.optimise.peers.protocol import Dimension, Point, Setup


class _Optuna:
    """A study of one sampler."""

    def __init__(self, setup: Setup, sampler: BaseSampler) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=sampler)
        self._space = {d.name: _distribution(d) for d in setup.space}
        for point, value in zip(setup.initial, setup.values, strict=True):
            self._study.add_trial(
                optuna.trial.create_trial(
                    params=point, distributions=self._space, value=value
                )
            )

    def ask(self) -> Point:
        """The next point to evaluate."""
        self._trial = self._study.ask(self._space)
        return dict(self._trial.params)

    def tell(self, point: Point, value: float) -> None:
        """The value of the point that was asked for last."""
        self._study.tell(self._trial, value)


class OptunaGP(_Optuna):
    """Its Gaussian process, told whether values are exact."""

    def __init__(self, setup: Setup) -> None:
        sampler = GPSampler(
            seed=setup.seed,
            n_startup_trials=len(setup.initial),
            deterministic_objective=not setup.noisy,
        )
        super().__init__(setup, sampler)


class OptunaTPE(_Optuna):
    """Its tree-structured Parzen estimator over all parameters together."""

    def __init__(self, setup: Setup) -> None:
        sampler = TPESampler(
            seed=setup.seed,
            n_startup_trials=len(setup.initial),
            multivariate=True,
        )
        super().__init__(setup, sampler)


def _distribution(dimension: Dimension) -> BaseDistribution:
    if dimension.kind == "real":
        return FloatDistribution(dimension.low, dimension.high)
    if dimension.kind == "ordered":
        return IntDistribution(0, dimension.count - 1)
    return CategoricalDistribution(range(dimension.count))
