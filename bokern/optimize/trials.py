"""The table of trials, row by row as they happen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from ax.core.generator_run import GeneratorRun

from bokern.ax import record_of
from bokern.ax.choice import AUTO, FALLBACK
from bokern.optimize.black_box import Outcome


class TrialTable:
    """Collects trials; see `OptimizationResult` for the columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._rows: list[dict[str, Any]] = []
        self.best_value = math.nan
        self.best_parameters: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        trial: int,
        parameters: dict[str, Any],
        outcome: Outcome,
        source: tuple[str, str],
        seconds: float,
    ) -> None:
        """Adds a finished trial.

        Args:
            trial: Ax's index of it.
            parameters: Its parameters.
            outcome: Its value or failure.
            source: Generator and structure, as `source_of` gives them.
            seconds: Time taken to choose and evaluate it.
        """
        if not outcome.failed and not outcome.value >= self.best_value:
            self.best_value, self.best_parameters = outcome.value, dict(parameters)
        self._rows.append(
            {
                "trial": trial,
                **{name: parameters[name] for name in self._names},
                "value": outcome.value,
                "status": "failed" if outcome.failed else "completed",
                "generator": source[0],
                "structure": source[1],
                "seconds": seconds,
                "reason": outcome.reason,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """The table, with its columns even if it has no row."""
        columns = [
            "trial",
            *self._names,
            "value",
            "status",
            "generator",
            "structure",
            "seconds",
            "reason",
        ]
        return pd.DataFrame(self._rows, columns=columns)


def source_of(run: GeneratorRun | None, metric: str) -> tuple[str, str]:
    """Generator and structures behind a candidate.

    Returns:
        ``initial`` or ``sobol`` with no structure; else the structure of largest
        weight, and the text of all of them with their weights.
    """
    if run is None:
        return "initial", ""
    record = record_of(run)
    if record is None or record.used == "sobol":
        return "sobol", ""
    if record.used == "matern":
        return str(FALLBACK), str(FALLBACK)
    chosen = record.chosen.get(metric) or record.incumbents.get(metric)
    if not chosen:
        first = record.offered[0]
        chosen = {str(FALLBACK) if first == AUTO else first: 1.0}
    heaviest = max(chosen, key=lambda text: chosen[text])
    if len(chosen) == 1:
        return heaviest, heaviest
    ranked = sorted(chosen.items(), key=lambda item: -item[1])
    return heaviest, "; ".join(f"{weight:.2f} {text}" for text, weight in ranked)
