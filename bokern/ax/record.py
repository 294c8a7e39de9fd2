"""What a generator run remembers about the structures it came from.

The record lies in ``gen_metadata["bokern"]`` of each generator run, so it is stored
with the experiment, in JSON and in SQL alike, and outlives copies of the strategy.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ax.core.experiment import Experiment
from ax.core.generator_run import GeneratorRun

from bokern.errors import FitWarning

KEY = "bokern"
VERSION = 1

Weights = dict[str, float]
"""Structures by their text, with their weights, which sum to one."""

Thetas = dict[str, dict[str, list[float]]]
"""For each metric, for each structure, hyperparameters in unconstrained coordinates."""


@dataclass(frozen=True)
class StructureRecord:
    """The structures behind a candidate.

    Args:
        offered: Texts of the structures that were to choose from, or ``"auto"``.
        selection: ``"winner"``, ``"mixture"`` or ``"draw"``.
        incumbents: For each metric the structures in use.
        searched_at: For each metric its observations when a comparison was last begun,
            whether or not it came to a result.
        evidence: For each metric, for each structure compared, its log evidence (nats,
            of the targets after Ax's transforms), standard error and probability.
        used: What produced the candidate: ``"structure"``, ``"matern"`` or ``"sobol"``.
        reasons: Why anything but the structures was used, or a comparison left out.
        why: For each metric what the last comparison said.
        chosen: For each metric the structures that this candidate came from; the
            incumbents unless one of them was drawn.
        theta: For each metric, for each structure, its fitted hyperparameters.
        warm: Those that the fits started from.
        rows: Number of observations fitted.
        repeats: How many candidates were thrown away before this one because each was
            a point already tried.
        explored: Whether this candidate is where the model knew least, for want of
            anything to gain.
        tests: For a metric with a symmetry that this candidate tests, its observations
            when structures were last compared.
    """

    offered: list[str]
    selection: str
    incumbents: dict[str, Weights] = field(default_factory=dict)
    searched_at: dict[str, int] = field(default_factory=dict)
    evidence: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    used: str = "structure"
    reasons: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, Weights] = field(default_factory=dict)
    theta: Thetas = field(default_factory=dict)
    warm: Thetas = field(default_factory=dict)
    rows: int = 0
    repeats: int = 0
    explored: bool = False
    tests: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON document that `from_json` reads back."""
        return {"version": VERSION, **asdict(self)}

    @staticmethod
    def from_json(document: Any) -> StructureRecord | None:
        """The record; None if there is none, or if it is of another version.

        One that is malformed is None too, with a `FitWarning`: a record is a memory,
        and the run goes on without it.
        """
        if not isinstance(document, Mapping) or document.get("version") != VERSION:
            return None
        known = {k: v for k, v in document.items() if k != "version"}
        evidence = known.get("evidence", {})
        if _is_count(known.get("searched_at")) and isinstance(evidence, Mapping):
            # So it was written when all metrics were compared at the same times.
            known["searched_at"] = at_once(known["searched_at"], evidence)
        wrong = [k for k, v in known.items() if k not in _KINDS or not _KINDS[k](v)]
        missing = [k for k in ("offered", "selection") if k not in known]
        if not wrong and not missing:
            return StructureRecord(**known)
        warnings.warn(
            "the record of structures that a trial carries cannot be read "
            f"({', '.join([*wrong, *missing])[:200]}): went on without it",
            FitWarning,
            stacklevel=2,
        )
        return None


def at_once(count: int, metrics: Iterable[str]) -> dict[str, int]:
    """One count of observations for several metrics; none if it is 0."""
    return dict.fromkeys(metrics, count) if count else {}


Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _by_name(check: Check) -> Check:
    return lambda value: (
        isinstance(value, dict)
        and all(map(_is_text, value))
        and all(map(check, value.values()))
    )


def _is_weights(value: Any) -> bool:
    return (
        _by_name(_is_number)(value)
        and all(0.0 <= share < math.inf for share in value.values())
        and sum(value.values()) > 0.0
    )


_KINDS: dict[str, Check] = {
    "offered": lambda value: _list_of(_is_text)(value) and bool(value),
    "selection": _is_text,
    "incumbents": _by_name(_is_weights),
    "searched_at": _by_name(_is_count),
    "evidence": _by_name(_by_name(_by_name(_is_number))),
    "used": _is_text,
    "reasons": _list_of(_is_text),
    "why": _by_name(_is_text),
    "chosen": _by_name(_is_weights),
    "theta": _by_name(_by_name(_list_of(_is_number))),
    "warm": _by_name(_by_name(_list_of(_is_number))),
    "rows": _is_count,
    "repeats": _is_count,
    "explored": lambda value: isinstance(value, bool),
    "tests": _by_name(_is_count),
}
"""What each entry of a record must be, whoever wrote the file."""


def record_of(run: GeneratorRun) -> StructureRecord | None:
    """The record that a generator run carries, if any."""
    return StructureRecord.from_json((run.gen_metadata or {}).get(KEY))


def symmetries_tested(run: GeneratorRun) -> dict[str, int]:
    """The ``tests`` of its record, without reading the rest."""
    document = (run.gen_metadata or {}).get(KEY)
    found = document.get("tests") if isinstance(document, Mapping) else None
    return dict(found) if found and _KINDS["tests"](found) else {}


def newest_record(experiment: Experiment) -> StructureRecord | None:
    """The record of the latest trial that has one."""
    for index in sorted(experiment.trials, reverse=True):
        for run in reversed(experiment.trials[index].generator_runs):
            record = record_of(run)
            if record is not None:
                return record
    return None
