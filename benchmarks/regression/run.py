"""One run: a data set, a split, a method."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.attempt import attempt
from benchmarks.predictive import predict
from benchmarks.regression.methods import METHODS
from benchmarks.regression.splits import load_split
from benchmarks.tasks import Record


@dataclass(frozen=True)
class RegressionRun:
    """A run that can be pickled and that names itself.

    Args:
        data: A name of ``FILES``.
        method: A name of ``METHODS``.
        seed: Number of the split, and seed of the method.
    """

    data: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Data, method and split."""
        return f"{self.data}/{self.method}/{self.seed}"

    def execute(self) -> Record:
        """Fits and predicts, and records scores or the failure."""
        return {
            "data": self.data,
            "method": self.method,
            "seed": self.seed,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        split = load_split(self.data, self.seed)
        model, record = METHODS[self.method](split, self.seed)
        found = predict(model, split.X_test)
        rmse = found.rmse(split.y_test)
        return record | {
            "rows": len(split.X),
            "test_rows": len(split.X_test),
            "repeated": split.repeated,
            "rmse": rmse,
            "standardised_mse": rmse**2 / float(split.y.var(correction=0)),
            "log_density": found.log_density(split.y_test),
            "members": len(found.weight),
        }
