"""A study: an optimisation that is stored as it goes and resumed by being opened."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import pandas as pd

from bokern.ax.choice import Structures
from bokern.errors import DataError, InputError, SpaceError, StorageError
from bokern.inputs import is_whole
from bokern.optimize.evaluators import Make
from bokern.optimize.events import Body, Damage
from bokern.optimize.exchange import rows_of
from bokern.optimize.ledger import Ledger, read_lease
from bokern.optimize.log import EventLog
from bokern.optimize.mirror import Candidate, Mirror
from bokern.optimize.pareto import best_trial, pareto_trials
from bokern.optimize.points import read_point, read_rows
from bokern.optimize.result import OptimizationResult, best_shown, result_of
from bokern.optimize.settings import Options, Problem, created, first_options
from bokern.optimize.state import State
from bokern.optimize.table import html_of, leaderboard, trial_table
from bokern.optimize.trial import COMPLETED, INITIAL, PENDING, Trial, trial_number
from bokern.optimize.values import OR_ELSE, read_reason, read_values
from bokern.selection import Comparison
from bokern.selection.workers import check_executor

REGENERATED = 3
"""How often a candidate is chosen anew because others asked meanwhile."""

TrialLike = Trial | int


class Study:
    """An optimisation by ask and tell, kept in an event log.

    Each trial that is asked for, told or failed is on disk before the call returns.
    Opening the same file again, in this process or another, goes on with the same
    trials, structures and suggestions; several processes may do so at once, on several
    machines through one SQL database. Nothing told is ever overwritten.

    Args:
        place: Path of a file, made if it does not exist, or the URL of an SQL database,
            such as ``"postgresql+psycopg://user@host/name"``; None keeps all in memory.
        space: Parameters by name, as `bokern.minimize` takes them; needed to begin a
            study. Given with one that exists it must be the same.
        direction: ``"minimize"``, ``"maximize"``, or a direction for each of several
            objectives by name, such as ``{"loss": "minimize", "speed": "maximize"}``.
        constraints: On parameters, such as ``["x + 2*y <= 1.5"]``.
        outcome_constraints: On outcomes, such as ``["cost <= 1.2"]``, which are told
            beside the objectives.
        structures: See `bokern.minimize`; like the options below it may change when a
            study is opened again.
        acquisition: See `bokern.minimize`.
        acquisition_options: See `bokern.minimize`.
        selection: See `bokern.minimize`.
        initial: Number of scrambled Sobol points before the first model; by default 5
            or twice the parameters.
        seed: Suggestions depend on it and on the trials alone.
        name: Of the study, where a database holds several.
        executor: Where structures are searched, any ``concurrent.futures`` executor,
            such as loky's or Dask's; in this process if None. Suggestions are the same.

    Raises:
        SpaceError: If the space or an option is malformed, or differs from what is
            stored; the message shows the difference.
        StorageError: If the place cannot be used, is damaged, or of something else.
        StructureError: If a structure is malformed.
        GroupError: If a group does not map the space to itself, or is too large.
        ColumnError: If a structure names a parameter that is not there.
    """

    def __init__(
        self,
        place: str | os.PathLike[str] | None = None,
        space: Mapping[str, Any] | None = None,
        direction: str | Mapping[str, str] | None = None,
        *,
        constraints: Sequence[str] | str | None = None,
        outcome_constraints: Sequence[str] | str | None = None,
        structures: Structures | None = None,
        acquisition: str | None = None,
        acquisition_options: Mapping[str, Any] | None = None,
        selection: str | None = None,
        initial: int | None = None,
        seed: int | None = None,
        name: str = "study",
        executor: Executor | None = None,
    ) -> None:
        asked = {
            "direction": direction,
            "constraints": constraints,
            "outcome_constraints": outcome_constraints,
        }
        options = {
            "structures": structures,
            "acquisition": acquisition,
            "acquisition_options": acquisition_options,
            "selection": selection,
            "initial": initial,
            "seed": seed,
        }
        wanted = None if space is None else Problem.read(space, **asked)
        if place is None and wanted is None:
            some = "{'x': (0.0, 1.0)}, or the place of one that exists"
            raise SpaceError(f"a study needs a space, such as {some}")
        self._mirror: Mirror | None = None
        self._executor = check_executor(executor)
        if wanted is not None:
            # Refuses what cannot serve before anything is stored.
            first = first_options(options, wanted)
            Mirror(wanted, first)
        self._ledger = Ledger(EventLog(place, name, create=wanted is not None))
        if not self._state.exists:
            if wanted is None:
                raise StorageError(
                    f"{self._ledger.log.shown} holds no study {name!r}: pass a space "
                    "to begin one"
                )
            self._ledger.append("created", created(wanted, first))
        self._check_same(wanted, asked)
        self._configure(options)

    def __repr__(self) -> str:
        done, log = len(self._state.of(COMPLETED)), self._ledger.log
        place = "" if log.place is None else f" in {log.shown}"
        return f"<Study{place}: {done} of {len(self._state.trials)} trials completed>"

    def _repr_html_(self) -> str:
        trials = self.trials
        lines = [repr(self).strip("<>")]
        if shown := best_shown(self):
            lines.append(shown)
        return html_of(lines, trials)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._ledger.log,)

    # -- what it is ----------------------------------------------------------------

    @property
    def problem(self) -> Problem:
        """Space, objectives and constraints."""
        return self._state.problem

    @property
    def options(self) -> Options:
        """How candidates are chosen."""
        return self._state.options

    @property
    def trials(self) -> pd.DataFrame:
        """A row a trial.

        Columns are ``trial``, the parameters, the outcomes, each followed by
        ``<outcome>_sem`` if a standard error of it is known, ``status``,
        ``generator``, ``structure``, ``seconds`` and ``reason``.
        """
        return trial_table(self._now().trials.values(), self.problem)

    @property
    def pending(self) -> list[Trial]:
        """Trials that were asked for and neither told nor failed, of any process."""
        return self._now().of(PENDING)

    @property
    def best(self) -> Trial:
        """The completed trial with the best objective that keeps all constraints.

        Raises:
            TrialError: If there is none, or there are several objectives (`pareto`).
        """
        return best_trial(self._now().of(COMPLETED), self.problem)

    @property
    def pareto(self) -> list[Trial]:
        """Completed trials that no other beats in all objectives, constraints kept."""
        return pareto_trials(self._now().of(COMPLETED), self.problem)

    @property
    def comparison(self) -> Comparison | None:
        """The last comparison of structures, for the first objective.

        It is on the scale of Ax's transforms; None if none was made in this process.
        """
        return None if self._mirror is None else self._mirror.comparison

    @property
    def client(self) -> Any:
        """Ax's client with all trials, for Ax's own analyses; a copy of the truth."""
        self._now()
        return self._mirrored().client

    def __getitem__(self, trial: int) -> Trial:
        """A trial by its number.

        Raises:
            TrialError: If there is none.
        """
        self._now()
        return self._ledger.find(trial_number(trial))

    def __len__(self) -> int:
        return len(self._now().trials)

    # -- ask and tell --------------------------------------------------------------

    def ask(self, count: int | None = None, *, lease: float | None = None) -> Any:
        """The next trial to evaluate, or a list of several.

        Pending trials are taken into account, whoever asked for them. A trial whose
        lease has run out is handed out again first.

        Args:
            count: How many; None for one, not in a list.
            lease: Seconds after which the trial may be handed out again if it was
                neither told nor failed; `renew` extends it. None for never.

        Raises:
            ExhaustedError: If every point of a finite space was tried.
            StorageError: If the log cannot be written.
        """
        seconds = read_lease(lease)
        if count is None:
            return self._ask(seconds)
        if not is_whole(count) or count < 1:
            raise InputError(
                f"the number of trials is a whole one of 1 or more, got {count!r:.60}"
            )
        room = self.problem.size
        if room is not None and count > room:
            raise InputError(
                f"{count} trials were asked for, the space has {room} points in all: "
                "ask for fewer"
            )
        return [self._ask(seconds) for _ in range(int(count))]

    def attach(
        self, parameters: Mapping[str, Any], *, lease: float | None = None
    ) -> Trial:
        """A pending trial at a point of your own; fixed parameters may be left out.

        Args:
            parameters: By name.
            lease: See `ask`.

        Raises:
            SpaceError: If the point does not lie in the space.
        """
        seconds, start = read_lease(lease), time.perf_counter()
        candidate = Candidate(read_point(parameters, self.problem), INITIAL)
        number = self._ledger.ask(candidate, start, seconds, strict=False)
        assert number is not None
        return self._ledger.find(number)

    def tell(
        self, trial: TrialLike | Mapping[str, Any], value: Any, sem: Any = None
    ) -> Trial:
        """Stores the outcome of a trial.

        Args:
            trial: The trial, or its number; or parameters, for a point that was not
                asked for.
            value: The outcome; with several outcomes a number for each by name.
            sem: Standard error of the value, one number or one for each by name; 0
                means that there is no noise, None that it is unknown. Where some of an
                outcome are unknown, its noise is inferred for all.

        Returns:
            The trial, completed.

        Raises:
            DataError: If a value cannot be used; the study is as it was.
            TrialError: If there is no such trial, or it was told or failed already.
            StorageError: If the log cannot be written; the trial stays pending.
        """
        try:
            values, sems = read_values(value, sem, self.problem.outcomes)
        except DataError as error:
            raise DataError(f"{error}; {OR_ELSE}") from error
        return self._end(trial, "told", {"values": values, "sems": sems})

    def fail(self, trial: TrialLike | Mapping[str, Any], reason: str = "") -> Trial:
        """Stores that a trial failed; where trials fail is learned, and avoided.

        Args:
            trial: The trial, its number, or the parameters of a new one.
            reason: Why.

        Raises:
            TrialError: If there is no such trial, or it was told or failed already.
        """
        return self._end(trial, "failed", {"reason": read_reason(reason)})

    def renew(self, trial: TrialLike, lease: float | None) -> None:
        """Extends the lease of a trial to so many seconds from now, or for good.

        Raises:
            TrialError: If there is no such trial.
        """
        seconds = read_lease(lease)
        self._now()
        self._ledger.lease([trial_number(trial)], seconds)

    def add(self, data: Any) -> list[Trial]:
        """Adds past trials; all or none.

        Args:
            data: A DataFrame with a column for each parameter and outcome, and perhaps
                ``<outcome>_sem``, ``status`` and ``reason``; an Optuna study; an Ax
                client or experiment; or a list of dictionaries with ``parameters`` and
                either ``values`` (with ``sems``, if known), as `tell` takes them, or
                the ``reason`` of a failure, as ``bokern export`` writes them too.

        Raises:
            InputError: If a row cannot be used; the message names it, and nothing is
                added.
        """
        bodies = read_rows(rows_of(data, self.problem), self.problem)
        return [self._ledger.find(number) for number in self._ledger.add(bodies)]

    def run(
        self,
        f: Callable[..., Any],
        budget: int,
        *,
        first: Sequence[Mapping[str, Any]] = (),
        parallel: int = 1,
        time_limit: float | None = None,
        optimum: float | None = None,
        progress: bool | None = None,
        evaluator: Make | None = None,
    ) -> OptimizationResult:
        """Asks, evaluates and tells until the study has so many trials.

        Run again after whatever ended it, it goes on: trials that a dead process left
        behind are evaluated first.

        Args:
            f: See `bokern.minimize`; with several outcomes it returns a number for each
                by name. A value may come with its standard error, as ``(value, sem)``.
            budget: Trials of the study in all.
            first: Points to evaluate before any other, unless they were already.
            parallel: Evaluations at a time, each in a process of its own if there are
                several.
            time_limit: Seconds after which an evaluation is stopped and counts as
                failed; it runs in a process of its own then.
            optimum: The known optimum, for regrets.
            progress: Whether to show progress; by default on a terminal only.
            evaluator: Where the function is evaluated, such as
                `bokern.optimize.evaluators.InThreads`, called with the function,
                ``parallel`` and ``time_limit``; by default in this process, or in
                others if there are several or a time limit.

        Raises:
            SpaceError: If the function cannot take the parameters, or an argument is
                malformed. Anything that ends the run early goes through with what was
                found so far as its ``result`` attribute.
        """
        from bokern.optimize.running import run

        limits = (parallel, time_limit)
        return run(self, f, budget, first, *limits, optimum, progress, evaluator)

    def result(self, optimum: float | None = None) -> OptimizationResult:
        """What was found so far, as `bokern.report` takes it; see `run`."""
        return result_of(self, optimum, ())

    @property
    def leaderboard(self) -> pd.DataFrame:
        """The structures compared last, for each objective and constrained outcome.

        Columns are ``outcome``, ``structure``, ``log_evidence``, ``standard_error``
        (nats, of the values after Ax's transforms), ``gap`` to the best,
        ``probability`` and ``observations`` when it was made; the most probable first.
        Empty before the first comparison.
        """
        return leaderboard(self._now().trials.values(), self._mirrored().metrics)

    def check(self) -> list[Damage]:
        """Where the log is not as it was written; an empty list if it is sound.

        Raises:
            StorageError: If it cannot be read at all.
        """
        return self._ledger.log.damages()

    # -- within --------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return self._ledger.state

    def _now(self) -> State:
        """The state, with what others wrote since."""
        self._ledger.refresh()
        return self._state

    def _mirrored(self) -> Mirror:
        """The experiment, in step with the trials."""
        changed = self._state.take_changed()
        if self._mirror is None or self._mirror.options != self.options:
            self._mirror = Mirror(self.problem, self.options, self._executor)
            changed = list(self._state.trials.values())
        self._mirror.take(changed)
        return self._mirror

    def _ask(self, seconds: float | None) -> Trial:
        for attempt in range(1000):
            self._now()
            number = self._ledger.reissued(seconds)
            if number is None:
                start = time.perf_counter()
                candidate = self._mirrored().propose()
                strict = attempt < REGENERATED
                number = self._ledger.ask(candidate, start, seconds, strict)
            if number is not None:
                return self._ledger.find(number)
        raise StorageError(
            f"{self._ledger.log.shown}: others ask faster than a candidate can be "
            "chosen; use fewer processes"
        )

    def _end(
        self, trial: TrialLike | Mapping[str, Any], kind: str, outcome: Body
    ) -> Trial:
        if isinstance(trial, Mapping):
            body = {"parameters": read_point(trial, self.problem), **outcome}
            (number,) = self._ledger.add([body])
            return self._ledger.find(number)
        return self._ledger.end(trial_number(trial), kind, outcome)

    def _check_same(self, wanted: Problem | None, asked: Mapping[str, Any]) -> None:
        """Refuses a study that is not the one that was asked for."""
        stored = self.problem
        lines = stored.differences(wanted or stored.changed(asked))
        if lines:
            log = self._ledger.log
            raise SpaceError(
                f"study {log.study!r} in {log.shown} is about something else: "
                f"{'; '.join(lines)}. Open it without a space to go on with it, or "
                "begin another study and add its trials to that"
            )

    def _configure(self, given: Mapping[str, Any]) -> None:
        """Stores options that were given and differ from those that are stored."""
        while True:
            options = Options.read(given, self.options)
            if options == self.options:
                return
            Mirror(self.problem, options)
            if self._ledger.append("configured", {"options": options.to_json()}):
                return


def _reopened(log: EventLog) -> Study:
    return Study(log.place, name=log.study)
