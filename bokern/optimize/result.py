"""What an optimisation found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from ax.api.client import Client

from bokern.ax import structure_history
from bokern.errors import StorageError
from bokern.optimize.constraints import Linear
from bokern.optimize.objectives import VALUE
from bokern.optimize.pareto import pareto_trials
from bokern.optimize.space import Parameter, read_space
from bokern.optimize.table import html_of
from bokern.optimize.trial import COMPLETED, PENDING, Trial
from bokern.selection import Comparison

if TYPE_CHECKING:
    from bokern.optimize.study import Study

SCHEMA_VERSION = 1


@dataclass(frozen=True, repr=False)
class OptimizationResult:
    """The outcome of `bokern.minimize`.

    Args:
        best_parameters: Parameters of the best trial; empty if every trial failed.
        best_value: Its value; NaN if every trial failed.
        trials: A row a trial: ``trial``, one column a parameter, ``value`` (NaN if it
            failed), ``status`` (``completed`` or ``failed``), ``generator``
            (``initial``, ``sobol``, ``symmetry test``, or the text of the structure
            with the largest weight), ``structure`` (all structures with their
            weights), ``seconds`` (choosing and evaluating the point), ``reason`` (of a
            failure).
        space: The space as it was given.
        seed: The seed.
        client: Ax's client, with the whole experiment.
        comparison: The last comparison of structures, on the targets after Ax's
            transforms; None if there was none.
        optimum: The known optimum, for regrets.
        notes: Anything worth knowing, such as an early stop.
        objectives: Direction of each objective, by name. With several there is no one
            best point, and `pareto` lists those that no other beats.
        pareto: Trials that no other beats in all objectives; the best with one.
        outcome_constraints: Bounds on outcomes, which the best keeps.
        leaderboard: The structures compared last; see `bokern.Study.leaderboard`.
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
    objectives: Mapping[str, str] = field(default_factory=lambda: {VALUE: "minimize"})
    pareto: tuple[Trial, ...] = ()
    outcome_constraints: tuple[Linear, ...] = ()
    leaderboard: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The space, checked, a parameter each."""
        return read_space(self.space)

    @property
    def regret(self) -> float | None:
        """How far the best value is from the known optimum."""
        if self.optimum is None:
            return None
        sign = 1.0 if self._minimizes else -1.0
        return sign * (self.best_value - self.optimum)

    @property
    def _minimizes(self) -> bool:
        return next(iter(self.objectives.values())) == "minimize"

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
        if not self.pareto:
            some = (self.trials["status"] == "completed").any()
            what = "kept the constraints" if some else "succeeded"
            return f"no value: none of {count} trials {what}"
        if len(self.objectives) > 1:
            return (
                f"{len(self.pareto)} of {count} trials are beaten by no other in "
                f"{' and '.join(self.objectives)}"
            )
        (best,) = self.pareto
        where = ", ".join(f"{k} = {_short(v)}" for k, v in best.parameters.items())
        return (
            f"best value {self.best_value:.8g} at {where} (trial {best.id} of {count})"
        )

    def _repr_html_(self) -> str:
        return html_of(str(self).splitlines(), self.trials)

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


def result_of(
    study: Study, optimum: float | None, notes: Sequence[str]
) -> OptimizationResult:
    """What a study found so far; pending trials are left out.

    Args:
        study: The study.
        optimum: The known optimum, for regrets.
        notes: Anything worth knowing.
    """
    problem = study.problem
    trials = study.trials
    trials = trials[trials["status"] != PENDING].reset_index(drop=True)
    first = problem.objectives[0].name
    pareto = study.pareto
    if len(problem.objectives) == 1 and pareto:
        pareto = [study.best]
    said = list(notes)
    if len(trials) and not (trials["status"] == COMPLETED).any():
        reason = trials["reason"].iloc[0]
        said.append(f"every trial failed, the first with {reason}")
    best = pareto[0] if len(problem.objectives) == 1 and pareto else None
    return OptimizationResult(
        best_parameters={} if best is None else dict(best.parameters),
        best_value=math.nan if best is None else best.values[first],
        trials=trials,
        space={p.name: p.declared for p in problem.parameters},
        seed=study.options.seed,
        client=study.client,
        comparison=study.comparison,
        optimum=optimum,
        notes=tuple(said),
        objectives={o.name: o.direction for o in problem.objectives},
        pareto=tuple(pareto),
        outcome_constraints=problem.outcome_constraints,
        leaderboard=study.leaderboard,
    )


def best_shown(study: Study) -> str:
    """The best so far, for a progress line; empty if there is none."""
    problem = study.problem
    found = pareto_trials(study._state.of(COMPLETED), problem)
    if not found:
        return ""
    if len(problem.objectives) > 1:
        return f"{len(found)} best"
    name = problem.objectives[0].name
    return f"best {found[0].values[name]:.6g}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
