"""The structures that a node uses, and when they are compared anew."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from ax.core.data import Data
from ax.core.experiment import Experiment

from bokern.ax.choice import drawn, is_auto
from bokern.ax.memory import GROWTH, Memory
from bokern.ax.record import Weights, newest_record, symmetries_tested
from bokern.ax.searching import compared, is_too_early, searched
from bokern.ax.surrogate import data_generator
from bokern.ax.training import MetricData, training_data
from bokern.errors import ColumnError, FitWarning, GroupError, StructureError
from bokern.inputs import MIN_ROWS
from bokern.seeding import spawn
from bokern.structures import Structure

NEVER_HEALS = (ColumnError, GroupError, StructureError)
"""Errors of the user's structures, which more data cannot mend."""


class Comparing:
    """Compares structures on each metric when its data have grown by a fifth.

    And when the outcome of a test of a symmetry has come in.

    Args:
        structures: ``["auto"]`` or the texts of those offered.
        selection: One of ``bokern.ax.choice.SELECTIONS``.
        seed: Of comparisons and draws.
        memory: What is known so far.
        executor: Where searches are done; here if None. It is no part of copies, and
            changes no result.
    """

    def __init__(
        self,
        structures: list[str],
        selection: str,
        seed: int,
        memory: Memory,
        executor: Executor | None = None,
    ) -> None:
        self.structures = structures
        self.selection = selection
        self.seed = seed
        self.memory = memory
        self.executor = executor

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "executor": None}

    def recall(self, experiment: Experiment, rows: int) -> None:
        """Takes over the newest record where it knows more than the memory.

        Args:
            experiment: Whose trials carry the records.
            rows: Number of observations to be fitted now.
        """
        trials = sum(len(t.arms) for t in experiment.trials.values())
        if max(self.memory.searched_at.values(), default=0) > trials:
            self.memory = Memory()
        record = newest_record(experiment)
        if (
            record is not None
            and record.offered == self.structures
            and record.selection == self.selection
            and self.memory.is_behind(record)
        ):
            self.memory.recall(record, rows)

    def forget(self, error: Exception) -> None:
        """Drops what was found, which does not fit the search space any more."""
        self.memory = Memory()
        warnings.warn(
            f"structures found earlier do not fit the search space ({error}): "
            "dropped them",
            FitWarning,
            stacklevel=2,
        )

    def update(
        self,
        structures: Sequence[Structure],
        experiment: Experiment,
        data: Data | None,
        rows: int,
        generator_kwargs: Mapping[str, Any],
        fit_kwargs: Mapping[str, Any],
    ) -> list[str]:
        """Compares the structures on each metric whose data have grown enough.

        Args:
            structures: Those offered, with the columns of the search space.
            experiment: To be modelled.
            data: Its data, if not all.
            rows: Their number.
            generator_kwargs: Further arguments of Ax's BoTorch generator.
            fit_kwargs: Further arguments of the fit of a generator.

        Returns:
            Why comparisons failed, which keeps the structures in use.
        """
        if len(structures) == 1 and not is_auto(self.structures):
            return []
        # No metric has more observations than there are rows.
        searched_at = self.memory.searched_at
        oldest = min(
            searched_at.get(m.signature, 0) for m in experiment.metrics.values()
        )
        tested = self._tested(experiment)
        if rows < max(MIN_ROWS, GROWTH * oldest) and not tested:
            return []
        reader = data_generator(generator_kwargs)
        try:
            reader.fit(experiment=experiment, data=data, **fit_kwargs)
            found = training_data(reader.fitted_adapter)
        except Exception as error:
            return [reason("no data to compare structures on", error)]
        due = [
            m
            for m in found
            if m.metric in tested or self.memory.is_due(m.metric, len(m.y))
        ]
        failed = [self._compare(structures, experiment, metric) for metric in due]
        return [text for text in failed if text is not None]

    def _tested(self, experiment: Experiment) -> set[str]:
        """Metrics of which a symmetry was tested since they were last compared."""
        tests = (
            test
            for trial in experiment.trials.values()
            if trial.status.is_completed
            for run in trial.generator_runs
            for test in symmetries_tested(run).items()
        )
        searched_at = self.memory.searched_at
        return {metric for metric, count in tests if count == searched_at.get(metric)}

    def _compare(
        self,
        structures: Sequence[Structure],
        experiment: Experiment,
        metric: MetricData,
    ) -> str | None:
        """Compares the structures on a metric; why not, if that failed."""
        name, count, memory = metric.metric, len(metric.y), self.memory
        seed = spawn(self.seed, "search", count)
        auto = is_auto(self.structures)
        if auto and is_too_early(metric):
            memory.why[name] = f"{count} observations are too few"
            return None
        memory.searched_at[name] = count
        try:
            if auto:
                space = experiment.search_space
                known = memory.known(name)
                found = searched(metric, space, known, seed, self.executor)
            else:
                found = compared(metric, structures, seed)
        except NEVER_HEALS:
            raise
        except Exception as error:
            return reason(f"no comparison for {name}", error)
        memory.keep(name, found, self.selection)
        return None

    def chosen(self, trial: int) -> dict[str, Weights]:
        """For each metric the structures that a trial's candidate comes from."""
        if self.selection != "draw":
            return dict(self.memory.incumbents)
        return {
            metric: drawn(weights, self.seed, "draw", metric, trial)
            for metric, weights in self.memory.incumbents.items()
        }


def reason(what: str, error: Exception) -> str:
    """What went wrong and the first line of why, for records and warnings."""
    text = str(error).strip().splitlines()
    why = text[0] if text else "no message"
    return f"{what}: {type(error).__name__}: {why[:300]}"
