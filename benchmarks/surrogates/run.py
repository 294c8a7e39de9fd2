"""One run: a function, a number of points, a method, a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchmarks.attempt import attempt
from benchmarks.predictive import predict
from benchmarks.surrogates.data import make_data
from benchmarks.surrogates.methods import METHODS
from benchmarks.tasks import Record

LEAST_SD = 1e-4
"""Lower predictive standard deviations, in those of the function, count as this."""


@dataclass(frozen=True)
class SurrogateRun:
    """A run that can be pickled and that names itself.

    Args:
        function: A name of ``FUNCTIONS``.
        method: A name of ``METHODS``.
        n: Number of points.
        seed: Of the data and the method.
    """

    function: str
    method: str
    n: int
    seed: int

    @property
    def key(self) -> str:
        """Function, number of points, method and seed."""
        return f"{self.function}/{self.n}/{self.method}/{self.seed}"

    def execute(self) -> Record:
        """Fits and predicts, and records scores or the failure."""
        return {
            "function": self.function,
            "n": self.n,
            "method": self.method,
            "seed": self.seed,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        data = make_data(self.function, self.n, self.seed)
        model, record = METHODS[self.method](data, self.seed)
        found = predict(model, data.X_test, noisy=False).at_least(LEAST_SD * data.scale)
        log_density = found.log_density(data.f_test) + math.log(data.scale)
        return record | {
            "nrmse": found.rmse(data.f_test) / data.scale,
            "nlpd": -log_density,
        }
