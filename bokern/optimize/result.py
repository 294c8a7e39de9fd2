"""What an optimisation found."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from ax.api.client import Client

from bokern.ax import structure_history
from bokern.errors import StorageError
from bokern.optimize.space import read_space
from bokern.selection import Comparison

SCHEMA_VERSION = 1


@dataclass(frozen=True, repr=False)
class OptimizationResult:
    """The outcome of `bokern.minimize`.

    Args:
        best_parameters: Parameters of the best trial; empty if every trial failed.
        best_value: Its value; NaN if every trial failed.
        trials: A row a trial: ``trial``, one column a parameter, ``value`` (NaN if it
            failed), ``status`` (``completed`` or ``failed``), ``generator``
            (``initial``, ``sobol``, or the text of the structure with the largest
            weight), ``structure`` (all structures with their weights), ``seconds``
            (choosing and evaluating the point), ``reason`` (of a failure).
        space: The space as it was given.
        seed: The seed.
        client: Ax's client, with the whole experiment.
        comparison: The last comparison of structures, on the targets after Ax's
            transforms; None if there was none.
        optimum: The known optimum, for regrets.
        notes: Anything worth knowing, such as an early stop.
    """

    best_parameters: dict[str, Any]
    best_value: float
    trials: pd.DataFrame
    space: dict[str, Any]
    seed: int
    client: Client
    comparison: Comparison | None = None
    optimum: float | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def regret(self) -> float | None:
        """Best value less the known optimum."""
        return None if self.optimum is None else self.best_value - self.optimum

    @property
    def structure_history(self) -> pd.DataFrame:
        """Probabilities of structures by trial; see `bokern.ax.structure_history`."""
        return structure_history(self.client)

    def __str__(self) -> str:
        lines = [self._headline()]
        if self.regret is not None and not math.isnan(self.regret):
            lines.append(f"regret {self.regret:.4g} (optimum {self.optimum:.8g})")
        if self.comparison is not None:
            lines.append(f"best supported structure: {self.comparison.best}")
        failed = int((self.trials["status"] == "failed").sum())
        if failed:
            lines.append(f"{failed} of {len(self.trials)} trials failed")
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return f"<OptimizationResult: {self._headline()}>"

    def _headline(self) -> str:
        count = len(self.trials)
        if not self.best_parameters:
            return f"no value: none of {count} trials succeeded"
        number = int(self.trials["value"].idxmin())
        where = ", ".join(f"{k} = {_short(v)}" for k, v in self.best_parameters.items())
        return (
            f"best value {self.best_value:.8g} at {where} "
            f"(trial {self.trials['trial'][number]} of {count})"
        )

    def _repr_html_(self) -> str:
        lines = "<br>".join(html.escape(line) for line in str(self).splitlines())
        table = self.trials.to_html(index=False, escape=True, max_rows=20, na_rep="")
        return f"<p>{lines}</p>{table}"

    def to_json(self, path: str | Path | None = None) -> str:
        """A JSON document; written to ``path`` too, if one is given.

        Raises:
            StorageError: If the file cannot be written.
        """
        compared = self.comparison
        rows = self.trials.astype(object).where(self.trials.notna(), None)
        document = {
            "version": SCHEMA_VERSION,
            "kind": "optimization",
            "best_parameters": self.best_parameters,
            "best_value": None if math.isnan(self.best_value) else self.best_value,
            "optimum": self.optimum,
            "seed": self.seed,
            "space": {p.name: p.to_json() for p in read_space(self.space)},
            "notes": list(self.notes),
            "trials": rows.to_dict("records"),
            "comparison": None if compared is None else json.loads(compared.to_json()),
        }
        text = json.dumps(document, indent=1, allow_nan=False)
        if path is not None:
            try:
                Path(path).write_text(text, encoding="utf-8")
            except OSError as error:
                raise StorageError(
                    f"{str(path)!r} cannot be written: {error}"
                ) from error
        return text


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
