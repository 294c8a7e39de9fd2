"""One run: a function, a method, a seed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.attempt import attempt
from benchmarks.tasks import Record
from benchmarks.toys.functions import make_toy
from benchmarks.uci.methods import METHODS

COMPARED = ("sswim", "sswim-2", "ssgp", "exact")
"""Methods of the tables that are tried on functions of one input."""


@dataclass(frozen=True)
class ToyRun:
    """A run that can be pickled and that names itself.

    Args:
        function: A name of ``FUNCTIONS``.
        method: A name of the tables' ``METHODS``.
        seed: Of the data and the method.
    """

    function: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Function, method and seed."""
        return f"{self.function}/{self.method}/{self.seed}"

    def execute(self) -> Record:
        """Fits and predicts, and records scores or the failure."""
        return {
            "function": self.function,
            "method": self.method,
            "seed": self.seed,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        toy = make_toy(self.function, self.seed)
        began = time.process_time()
        fitted = METHODS[self.method](toy.X, toy.y, self.seed)
        seconds = time.process_time() - began
        found = fitted.predict(toy.X_test)
        return {
            "rmse": found.rmse(toy.f_test),
            "mnlp": -found.log_density(toy.y_test),
            "noise_sd": fitted.noise_sd,
            "fit_seconds": seconds,
            "settings": fitted.settings,
        }
