"""The package bayesian-optimization, as it comes."""

from __future__ import annotations

from typing import Any

from bayes_opt import BayesianOptimization

from benchmarks.optimise.peers.protocol import Dimension, Point, Setup


class BayesOpt:
    """Its default acquisition; noise as the documentation says where there is some."""

    def __init__(self, setup: Setup) -> None:
        self._optimizer = BayesianOptimization(
            f=None,
            pbounds={d.name: _bounds(d) for d in setup.space},
            random_state=setup.seed,
            verbose=0,
            allow_duplicate_points=True,
        )
        if setup.noisy:
            self._optimizer.set_gp_params(alpha=1e-3)
        self._unordered = {d.name for d in setup.space if d.kind == "unordered"}
        for point, value in zip(setup.initial, setup.values, strict=True):
            self.tell(point, value)

    def ask(self) -> Point:
        """The next point to evaluate."""
        suggested = self._optimizer.suggest()
        return {name: float(x) for name, x in suggested.items()}

    def tell(self, point: Point, value: float) -> None:
        """The value of the point that was asked for last."""
        self._optimizer.register(self._own(point), -value)

    def _own(self, point: Point) -> dict[str, Any]:
        return {k: str(int(x)) if k in self._unordered else x for k, x in point.items()}


def _bounds(dimension: Dimension) -> tuple[Any, ...]:
    if dimension.kind == "real":
        return (dimension.low, dimension.high)
    if dimension.kind == "ordered":
        return (0, dimension.count - 1, int)
    return tuple(map(str, range(dimension.count)))
