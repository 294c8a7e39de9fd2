"""One run: a series, a split, a method."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.attempt import attempt
from benchmarks.predictive import predict
from benchmarks.tasks import Record
from benchmarks.timeseries.methods import METHODS
from benchmarks.timeseries.published import published_rmse
from benchmarks.timeseries.series import load_series


@dataclass(frozen=True)
class SeriesRun:
    """A run that can be pickled and that names itself.

    Args:
        series: A name of ``NAMES``.
        task: ``"extrapolation"`` or ``"interpolation"``.
        method: A name of ``METHODS``.
        seed: Of the method; the splits are fixed.
    """

    series: str
    task: str
    method: str
    seed: int = 0

    @property
    def key(self) -> str:
        """Task, series, method and seed."""
        return f"{self.task}/{self.series}/{self.method}/{self.seed}"

    def execute(self) -> Record:
        """Fits and predicts, and records scores or the failure."""
        return {
            "series": self.series,
            "task": self.task,
            "method": self.method,
            "seed": self.seed,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        series = load_series(self.series, self.task)
        model, record = METHODS[self.method](series, self.seed)
        found = predict(model, series.X_test)
        return record | {
            "rows": len(series.X),
            "rmse": found.rmse(series.y_test),
            "log_density": found.log_density(series.y_test),
            "members": len(found.weight),
            "published": published_rmse(self.series, self.task, series),
        }
