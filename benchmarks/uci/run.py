"""One run: a data set, a method, a seed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.attempt import attempt
from benchmarks.tasks import Record
from benchmarks.uci.methods import METHODS, MOST
from benchmarks.uci.sources import SOURCES
from benchmarks.uci.splits import load_split


@dataclass(frozen=True)
class UCIRun:
    """A run that can be pickled and that names itself.

    Args:
        data: A name of ``SOURCES``.
        method: A name of ``METHODS``.
        seed: Of the split and the method.
    """

    data: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Data, method and seed."""
        return f"{self.data}/{self.method}/{self.seed}"

    def execute(self) -> Record:
        """Fits and predicts, and records scores, or why there are none."""
        return {
            "data": self.data,
            "method": self.method,
            "seed": self.seed,
            "leaky": SOURCES[self.data].leaky,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        split = load_split(self.data, self.seed)
        n, d = split.X.shape
        about = {"n": n, "d": d, "test_rows": len(split.y_test)}
        about["repeated"] = split.repeated
        if n > MOST.get(self.method, n):
            reason = f"{n} training rows, tried up to {MOST[self.method]}"
            return {**about, "skipped": reason}
        began = time.process_time()
        fitted = METHODS[self.method](split.X, split.y, self.seed)
        seconds = time.process_time() - began
        found = fitted.predict(split.X_test)
        return {
            **about,
            "skipped": None,
            "rmse": found.rmse(split.y_test),
            "mnlp": -found.log_density(split.y_test),
            "noise_sd": fitted.noise_sd,
            "fit_seconds": seconds,
            "stopped_early": fitted.stopped_early,
            "settings": fitted.settings,
        }
