"""What a generator run remembers about the structures it came from.

The record lies in ``gen_metadata["bokern"]`` of each generator run, so it is stored
with the experiment, in JSON and in SQL alike, and outlives copies of the strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ax.core.experiment import Experiment
from ax.core.generator_run import GeneratorRun

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
        searched_at: Number of observations at the last comparison; 0 before the first.
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
    """

    offered: list[str]
    selection: str
    incumbents: dict[str, Weights] = field(default_factory=dict)
    searched_at: int = 0
    evidence: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    used: str = "structure"
    reasons: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, Weights] = field(default_factory=dict)
    theta: Thetas = field(default_factory=dict)
    warm: Thetas = field(default_factory=dict)
    rows: int = 0

    def to_json(self) -> dict[str, Any]:
        """A JSON document that `from_json` reads back."""
        return {"version": VERSION, **asdict(self)}

    @staticmethod
    def from_json(document: Any) -> StructureRecord | None:
        """The record, or None if it is malformed or of another version."""
        if not isinstance(document, Mapping) or document.get("version") != VERSION:
            return None
        try:
            return StructureRecord(
                **{k: v for k, v in document.items() if k != "version"}
            )
        except TypeError:
            return None


def record_of(run: GeneratorRun) -> StructureRecord | None:
    """The record that a generator run carries, if any."""
    return StructureRecord.from_json((run.gen_metadata or {}).get(KEY))


def newest_record(experiment: Experiment) -> StructureRecord | None:
    """The record of the latest trial that has one."""
    for index in sorted(experiment.trials, reverse=True):
        for run in reversed(experiment.trials[index].generator_runs):
            record = record_of(run)
            if record is not None:
                return record
    return None
