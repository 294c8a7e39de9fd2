"""The loop of a study: ask, evaluate, tell."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from bokern.errors import ExhaustedError, SpaceError
from bokern.inputs import is_whole
from bokern.optimize.black_box import BlackBox, Outcome
from bokern.optimize.evaluators import Evaluator, Here, Isolated, Make
from bokern.optimize.points import read_points
from bokern.optimize.result import OptimizationResult, best_shown, result_of
from bokern.optimize.trial import PENDING, Trial
from bokern.optimize.values import read_reason

if TYPE_CHECKING:
    from bokern.optimize.study import Study

LEASE = 60.0
"""Seconds after which a trial of a run that ended without a word is evaluated again.

One whose process ended on this machine is at once.
"""


def run(
    study: Study,
    f: Callable[..., Any],
    budget: int,
    first: Sequence[Mapping[str, Any]] = (),
    parallel: int = 1,
    time_limit: float | None = None,
    optimum: float | None = None,
    progress: bool | None = None,
    make: Make | None = None,
) -> OptimizationResult:
    """See `Study.run`."""
    budget = read_budget(budget)
    if not is_whole(parallel) or parallel < 1:
        raise SpaceError(f"parallel= is a whole number of 1 or more, got {parallel!r}")
    if time_limit is not None and not _is_positive(time_limit):
        raise SpaceError(f"time_limit= is a number of seconds > 0, got {time_limit!r}")
    problem = study.problem
    black_box = BlackBox(f, problem.names, problem.outcomes)
    points = read_points(first, problem, "first")
    optimum = None if optimum is None else float(optimum)
    show = sys.stderr.isatty() if progress is None else progress
    if make is None and parallel == 1 and time_limit is None:
        evaluator: Evaluator = Here(black_box)
    else:
        evaluator = (make or Isolated)(black_box, int(parallel), time_limit)
    with ExitStack() as stack:
        stack.enter_context(closing(evaluator))
        bar = stack.enter_context(
            tqdm(total=budget, disable=not show, desc="optimize", unit="trial")
        )
        loop = _Run(study, evaluator, budget, bar)
        try:
            loop.to_the_end(points, int(parallel))
        except BaseException as stop:
            how = (
                f"stopped by {type(stop).__name__}"
                if isinstance(stop, Exception)
                else "interrupted"
            )
            done = loop.ended()
            loop.notes.append(f"{how} after {done} of {budget} trials")
            stop.result = result_of(study, optimum, loop.notes)  # type: ignore[attr-defined]
            stop.add_note(
                f"{done} finished trials are kept in the `result` attribute of this "
                "exception (sys.last_value.result at the prompt)"
            )
            raise
    return result_of(study, optimum, loop.notes)


class _Run:
    """One run under way."""

    def __init__(
        self, study: Study, evaluator: Evaluator, budget: int, bar: tqdm
    ) -> None:
        self.study = study
        self.evaluator = evaluator
        self.budget = budget
        self.bar = bar
        self.notes: list[str] = []
        self._held: dict[int, None] = {}
        self._is_exhausted = False

    def ended(self) -> int:
        """Trials that were told or failed, of any process."""
        trials = self.study._state.trials.values()
        return sum(t.status != PENDING for t in trials)

    def to_the_end(self, points: Sequence[Mapping[str, Any]], parallel: int) -> None:
        """Until the study has its trials, or no point is left."""
        running: dict[Future[Outcome], Trial] = {}
        queue = [p for p in points if not self._was_tried(p)]
        self._show()
        with self._leases():
            while True:
                while len(running) < parallel and not self._is_exhausted:
                    trial = self._next(queue)
                    if trial is None:
                        break
                    self._held[trial.id] = None
                    running[self.evaluator.submit(trial.parameters)] = trial
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    self._end(running.pop(future), future.result())
        if self._is_exhausted:
            self.notes.append(
                f"stopped after {self.ended()} of {self.budget} trials: no point of "
                "the space is left to try"
            )

    def _next(self, queue: list[Mapping[str, Any]]) -> Trial | None:
        """The next trial to evaluate; None if there is none for now."""
        study = self.study
        study._now()
        if queue:
            return study.attach(queue.pop(0), lease=LEASE)
        if len(study._state.trials) >= self.budget:
            number = study._ledger.reissued(LEASE)
            return None if number is None else study._ledger.find(number)
        try:
            trial: Trial = study.ask(lease=LEASE)
        except ExhaustedError:
            self._is_exhausted = True
            return None
        return trial

    def _was_tried(self, point: Mapping[str, Any]) -> bool:
        trials = self.study._state.trials.values()
        return any(dict(t.parameters) == dict(point) for t in trials)

    def _end(self, trial: Trial, outcome: Outcome) -> None:
        body = (
            {"reason": read_reason(outcome.reason)}
            if outcome.failed
            else {"values": dict(outcome.values), "sems": dict(outcome.sems)}
        )
        self.study._ledger.end(trial.id, "failed" if outcome.failed else "told", body)
        del self._held[trial.id]
        self._show()

    def _show(self) -> None:
        """Sets the progress line."""
        self.bar.n = min(self.ended(), self.budget)
        self.bar.set_postfix_str(best_shown(self.study))

    @contextmanager
    def _leases(self) -> Iterator[None]:
        """Renews the leases of running trials; gives them up when it ends early."""
        ledger = self.study._ledger
        if ledger.log.place is None:
            yield
            return
        stop = threading.Event()

        def renew() -> None:
            while not stop.wait(LEASE / 3):
                held = list(self._held)
                if held:
                    ledger.lease(held, LEASE)

        keeper = threading.Thread(target=renew, daemon=True)
        keeper.start()
        try:
            yield
        finally:
            stop.set()
            keeper.join()
            if self._held:
                ledger.lease(list(self._held), 0.0)


def read_budget(budget: Any) -> int:
    """The number of trials.

    Raises:
        SpaceError: If it is no whole number of 1 or more.
    """
    if not is_whole(budget) or budget < 1:
        raise SpaceError(
            f"budget is the number of evaluations, a whole number of 1 or more, got "
            f"{budget!r}"
        )
    return int(budget)


def _is_positive(number: Any) -> bool:
    return (
        isinstance(number, int | float)
        and not isinstance(number, bool)
        and 0.0 < number < float("inf")
    )
