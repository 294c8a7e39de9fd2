"""Finds the structure itself: a grammar of structures, searched by their evidence."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from importlib import metadata
from numbers import Real
from pathlib import Path
from typing import Any

from bokern.build import unfitted
from bokern.errors import InputError, TimeLimitError
from bokern.evidence import Evidence, smc_applies
from bokern.fitting import time_limit as time_limit_of_work
from bokern.inputs import Bounds, Observations, is_whole, read_observations
from bokern.selection.budget import Limit, Meter, read_budget
from bokern.selection.candidate import Settings
from bokern.selection.comparison import Comparison
from bokern.selection.found import attach, found
from bokern.selection.jobs import (
    SEARCH_ROWS,
    Context,
    Effort,
    Job,
    Outcome,
    Theta,
    one_thread,
    settled_rows,
)
from bokern.selection.journal import Journal
from bokern.selection.last_steps import mend, sample, settle
from bokern.selection.outcome import choose_outcome, with_choice
from bokern.selection.progress import Progress
from bokern.selection.ranking import distinct
from bokern.selection.schedule import Plan, Schedule
from bokern.selection.workers import Workers, check_executor
from bokern.structures import Matern, Structure
from bokern.structures.grammar import Grammar

BASELINE = Matern(2.5)
"""What is fitted where the data are too few to search."""

SAMPLED_SIZE = 250
"""Rows times hyperparameters up to which sampling is worth its cost by default: about
20 CPU seconds a structure; 96 rows and 10 hyperparameters take 370."""

LISTED = 12
"""Structures of a list of which each is fitted to the end; of a longer one those that
fall behind at a first look are dropped."""

AUTO_ROUNDS = 8
JOURNAL_VERSION = 3


def search(
    X: Any,
    y: Any,
    structures: str | Sequence[Structure | str] = "auto",
    *,
    bounds: Bounds | None = None,
    noise: Any = None,
    budget: int | str | timedelta | None = None,
    rounds: int | None = None,
    smc: bool | str = "auto",
    outcome: str = "identity",
    executor: Executor | None = None,
    workers: int = 1,
    journal: str | Path | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    mean: str = "constant",
    standardize: bool = True,
    progress: bool | None = None,
) -> Comparison:
    """Finds the structures that the data support best.

    Starts from simple structures, looks at each, fits the best to the end, derives
    others from the leaders by a grammar (adding, multiplying and replacing parts,
    change-points, warps, symmetries), and so on until a round gains less than 1 nat.
    Evidences are Laplace's, those of the finalists sampled.

    Above 200 rows all but the last step look at 200 of them, drawn at random, and the
    last at no more than 2000, unless all finalists are filtered in O(n).

    Args:
        X: ``n x d`` tensor, array or DataFrame, in raw units; a vector is one column.
        y: ``n`` tensor, array or Series, in raw units.
        structures: ``"auto"`` for the grammar, or structures to choose from, which
            are expanded only if ``rounds`` is given.
        bounds: The declared box, ``(low, high)`` a column, in order or by name.
        noise: Known variance of y, one number or ``n``; None to infer it.
        budget: Likelihood evaluations (a whole number, 60,000 by default; one of a mean
            over P views counts 1 + P // 32), or a duration such as ``"5min"``;
            results within a duration depend on the machine. What was found until
            then is returned. Sampling does not count, and ends, or is left out, once
            the budget is spent.
        rounds: Rounds of expansion, at most.
        smc: Whether to sample the evidences of finalists of at most 150 rows and 30
            hyperparameters; ``"auto"`` does where it takes seconds, up to 12 of rows
            times hyperparameters of 250. Those within 5 nats of the best are all
            sampled or none.
        outcome: Transform of y, which all structures share: ``"identity"``,
            ``"log"``, ``"yeo-johnson"``, or ``"auto"`` to choose it by evidence.
        executor: Where the work is done: any ``concurrent.futures`` executor.
        workers: Processes to use if no executor is given; 1 works in this one. The
            result is the same for any number.
        journal: File that finished work is kept in; a search with the same data and
            arguments goes on from it.
        time_limit: Seconds that one step of one structure may take, be it a look, a
            fit or its sampling; one that takes longer is left out.
        seed: Of everything random.
        mean: ``"constant"`` with a N(0, 1) prior, or ``"zero"``.
        standardize: Whether y is z-scored first.
        progress: Whether to show a progress bar; on a terminal by default.

    Returns:
        What was found, ranked by log evidence; ``trace`` tells all that was tried. An
        interruption from the keyboard goes through with the structures that were
        fitted by then, if any, as its ``result`` attribute.

    Raises:
        InputError: What cannot be used, and how to mend it.
        StorageError: If the journal is damaged, in use, or of another search.
        FitError: If no structure could be fitted, with the reasons.
    """
    limit = read_budget(budget)
    _check_counts(rounds, workers, time_limit)
    if not (isinstance(smc, bool) or smc == "auto"):
        raise InputError(f"smc is True, False or 'auto', got {smc!r:.60}")
    data = read_observations(X, y, bounds, noise)
    if not is_whole(seed):
        raise InputError(f"seed is a whole number, got {seed!r:.60}")
    settings = Settings(seed=int(seed), mean=mean, standardize=bool(standardize))
    remarks: tuple[str, ...] = ()
    auto = isinstance(structures, str) and structures == "auto"
    grammar = Grammar.of(
        data.bounds, names=data.column_names, n=min(len(data.X), SEARCH_ROWS)
    )
    if auto:
        initial, remarks = _initial(grammar, data, remarks)
        most = AUTO_ROUNDS if rounds is None else rounds
    else:
        initial = [
            s.resolve(data.column_names)
            for s in distinct(structures, data.column_names)
        ]
        most = rounds or 0
    if auto and len(initial) == 1:
        most = 0
    return search_observations(
        initial,
        data,
        settings,
        grammar=grammar,
        plan=Plan(
            rounds=most,
            scouted=auto or len(initial) > LISTED,
            smc={"auto": Plan.smc, True: math.inf, False: 0}[smc],
            smc_size=SAMPLED_SIZE if smc == "auto" else math.inf,
        ),
        effort=Effort(time_limit=time_limit),
        limit=limit,
        outcome=outcome,
        workers=workers,
        executor=executor,
        journal=journal,
        remarks=remarks,
        progress=progress,
    )


def search_observations(
    initial: Sequence[Structure],
    data: Observations,
    settings: Settings,
    *,
    grammar: Grammar,
    plan: Plan,
    effort: Effort,
    limit: Limit,
    known: Mapping[Structure, Theta] | None = None,
    outcome: str | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    journal: str | Path | None = None,
    remarks: tuple[str, ...] = (),
    progress: bool | None = None,
) -> Comparison:
    """`search` on data that are checked already, from structures with numbered columns.

    Args:
        initial: Structures to begin with.
        data: Checked data.
        settings: Of the fits.
        grammar: What derives structures from others.
        plan: How far the search goes.
        effort: How much is done for each structure.
        limit: Evaluations, or time.
        known: Further structures, with hyperparameters that their fits start from.
        outcome: See `search`; that of the settings if None.
        workers: See `search`.
        executor: See `search`.
        journal: See `search`.
        remarks: Said of the result.
        progress: See `search`.
    """
    check_executor(executor)
    _check_device(data, workers, executor)
    with ExitStack() as stack:
        meter = stack.enter_context(closing(Meter(limit, progress)))
        if outcome is not None:
            data, settings = _choose(data, settings, outcome, effort, meter)
        for structure in initial:
            unfitted(structure, data, **settings.options())
        context = Context(data, settings, effort)
        rows = SEARCH_ROWS if len(data.X) > SEARCH_ROWS else 0
        if rows:
            plan = replace(plan, reserve=0.4)
            _check_drawn(context.on(rows).data)
        file = None
        if journal is not None:
            file = stack.enter_context(Journal(journal, _header(initial, context)))
        pool = stack.enter_context(closing(Workers(context, executor, workers)))

        def run(jobs: Sequence[Job]) -> Generator[Outcome]:
            return _remembered(jobs, pool, file)

        schedule = Schedule(
            initial, known or {}, grammar.expand, plan, run, meter, rows
        )
        done = schedule.progress
        try:
            schedule.search()
            settle(done, plan.settled, partial(settled_rows, data=data))
            mend(done)
            remarks += tuple(_sample(done, plan, len(data.X), data.column_names))
        except BaseException as stop:
            attach(stop, done, context, remarks)
            raise
    if done.cut:
        remarks += ("the budget was spent before the search came to its end",)
    if isinstance(limit, timedelta):
        remarks += (
            "the budget was a duration: another machine may come to other structures",
        )
    return found(done, context, remarks)


def _choose(
    data: Observations, settings: Settings, outcome: str, effort: Effort, meter: Meter
) -> tuple[Observations, Settings]:
    """Data and settings with the outcome's transform, chosen within the budget."""
    meter.show("choosing the outcome")
    try:
        with one_thread(), time_limit_of_work(effort.time_limit):
            choice = choose_outcome(data, settings, outcome)
    except TimeLimitError as error:
        raise TimeLimitError(
            f"choosing the outcome took longer than the {effort.time_limit:g} s "
            "allowed to a step: raise time_limit, or name the transform"
        ) from error
    meter.spend(choice.evaluations)
    return with_choice(data, settings, choice)


def _sample(done: Progress, plan: Plan, n: int, names: Sequence[str]) -> list[str]:
    """Samples evidences if that is wanted; what to say of those that are not."""
    if not plan.smc or not done.finished:
        return []
    asked = plan.smc == math.inf
    return sample(done, plan.smc, partial(_is_sampled, plan, n), names, asked)


def _is_sampled(plan: Plan, rows: int, evidence: Evidence) -> bool:
    k = evidence.n_hyperparameters
    return smc_applies(k, rows) and k * rows <= plan.smc_size


def _remembered(
    jobs: Sequence[Job], pool: Workers, journal: Journal | None
) -> Generator[Outcome]:
    """Outcomes of jobs in order; those that the journal holds are not done again."""
    if journal is None:
        yield from pool.map(jobs, lambda _, outcome: outcome)
        return
    known = dict(journal.entries)
    missing = [job for job in jobs if job.key not in known]

    def arrived(job: Job, outcome: Outcome) -> Outcome:
        # What failed for want of time or of a worker may succeed another time.
        return outcome if outcome.get("passing") else journal.add(job.key, outcome)

    outcomes = pool.map(missing, arrived)
    try:
        for job in jobs:
            yield known[job.key] if job.key in known else next(outcomes)
    finally:
        outcomes.close()


def _initial(
    grammar: Grammar, data: Observations, remarks: tuple[str, ...]
) -> tuple[list[Structure], tuple[str, ...]]:
    """Where "auto" begins: at small n with the baseline alone."""
    n, d = data.X.shape
    if n < enough_rows(d):
        note = (
            f"{n} rows are too few to search structures of {d} columns (2d + 5 = "
            f"{enough_rows(d)} are needed): {BASELINE} is used"
        )
        return [BASELINE], (*remarks, note)
    return list(grammar.initial()), remarks


def enough_rows(dim: int) -> int:
    """Observations below which structures cannot be told apart."""
    return 2 * dim + 5


def _header(initial: Sequence[Structure], context: Context) -> dict[str, Any]:
    """What must be the same for a search to go on from a journal."""
    effort = {k: v for k, v in asdict(context.effort).items() if k != "time_limit"}
    return {
        "kind": "bokern.search",
        "version": JOURNAL_VERSION,
        "bokern": _version(),
        "data": context.digest,
        "rows": len(context.data.X),
        "columns": list(context.data.column_names),
        "structures": [str(s) for s in initial],
        "settings": asdict(context.settings),
        "effort": effort,
    }


def _version() -> str:
    try:
        return metadata.version("bokern")
    except metadata.PackageNotFoundError:
        return "not installed"


def _check_device(data: Observations, workers: int, executor: Executor | None) -> None:
    if data.X.device.type != "cpu" and (executor is not None or workers > 1):
        raise InputError(
            f"other processes work on the CPU, the data are on {data.X.device}: pass "
            "workers=1 and no executor, or the data on the CPU"
        )


def _check_drawn(data: Observations) -> None:
    if bool((data.y == data.y[0]).all()):
        raise InputError(
            f"{data.target_name!r} is constant in the {len(data.y)} rows that were "
            "drawn to search on: pass another seed, or the rows that matter"
        )


def _check_counts(rounds: Any, workers: Any, time_limit: Any) -> None:
    for name, value, least in (("rounds", rounds, 0), ("workers", workers, 1)):
        if value is not None and not (is_whole(value) and value >= least):
            raise InputError(f"{name} is a whole number >= {least}, got {value!r:.60}")
    number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and time_limit > 0):
        raise InputError(
            f"time_limit is a number of seconds > 0, or None, got {time_limit!r:.60}"
        )
