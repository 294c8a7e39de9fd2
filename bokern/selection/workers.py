"""Does jobs in this process or in others, and loses none."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from typing import Any

from bokern.errors import FitWarning, InputError
from bokern.selection.jobs import Context, Job, Outcome, execute, perform

BROKEN_AT_MOST = 2
"""Times that a pool may break before its jobs are done one by one, which shows the
guilty one."""

ALONE_AT_MOST = 3
"""Times that a job may take down a worker of its own: others kill workers too."""

ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)

Arrived = Callable[[Job, Outcome], Outcome]


def check_executor(executor: Any) -> Executor | None:
    """The executor itself, or None.

    Raises:
        InputError: If it cannot be handed work.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(
            "executor= is a concurrent.futures executor, such as "
            f"ProcessPoolExecutor(4), got {executor!r:.60}"
        )
    found: Executor | None = executor
    return found


class Workers:
    """Where jobs are done: here, in processes of our own, or by any executor.

    A job that is lost with its worker is done again. One that takes its worker down
    when it runs alone is recorded as failed.

    Args:
        context: What the jobs share.
        executor: Anything with ``submit`` as in `concurrent.futures`: a
            ProcessPoolExecutor, or Dask's ``client.get_executor()``.
        count: Number of processes of our own, by loky, if there is no executor; 1
            works in this process.
    """

    def __init__(
        self, context: Context, executor: Executor | None = None, count: int = 1
    ) -> None:
        self.context = context
        self.count = count
        self._texts: dict[int, str] = {}
        self._given = executor
        self._own: Any = None

    def map(self, jobs: Sequence[Job], arrived: Arrived) -> Generator[Outcome]:
        """Outcomes in the order of the jobs.

        Args:
            jobs: What is to be done.
            arrived: Called with each job and its outcome as soon as it is done, in
                whatever order; what it returns is yielded.
        """
        if self._given is None and self.count == 1:
            for job in jobs:
                yield arrived(job, perform(job, self.context))
            return
        pending = list(range(len(jobs)))
        done: dict[int, Outcome] = {}
        following = 0
        for number, outcome in self._outcomes(jobs, pending):
            done[number] = arrived(jobs[number], outcome)
            while following in done:
                yield done.pop(following)
                following += 1

    def _outcomes(
        self, jobs: Sequence[Job], pending: list[int]
    ) -> Iterator[tuple[int, Outcome]]:
        """Numbers and outcomes of jobs as they are done."""
        breaks = alone = 0
        while pending:
            together = pending if breaks < BROKEN_AT_MOST else pending[:1]
            futures: dict[Future[Outcome], int] = {}
            broken: BaseException | None = None
            try:
                for number in together:
                    job = jobs[number]
                    text = self._text(job)
                    futures[self._pool().submit(execute, job, text)] = number
            except (BrokenExecutor, RuntimeError) as error:
                broken = error
            try:
                while futures:
                    finished, _ = wait(futures, return_when=FIRST_COMPLETED)
                    for future in finished:
                        number = futures.pop(future)
                        try:
                            outcome = future.result()
                        except (BrokenExecutor, CancelledError) as error:
                            broken = error
                            continue
                        except Exception as error:
                            outcome = _failed(error)
                        pending.remove(number)
                        alone = 0
                        yield number, outcome
            finally:
                for future in futures:
                    future.cancel()
            if broken is not None:
                self._replace(broken)
                alone += breaks >= BROKEN_AT_MOST
                breaks += 1
                if alone == ALONE_AT_MOST:
                    breaks = alone = 0
                    yield pending.pop(0), _failed(broken)

    def _text(self, job: Job) -> str:
        """The context with no more rows than the job looks at."""
        if job.rows not in self._texts:
            self._texts[job.rows] = self.context.on(job.rows).dumps()
        return self._texts[job.rows]

    def _pool(self) -> Executor:
        if self._given is not None:
            return self._given
        if self._own is None:
            from loky import ProcessPoolExecutor

            self._own = ProcessPoolExecutor(
                max_workers=self.count, env=ENVIRONMENT, timeout=None
            )
        return self._own

    def _replace(self, error: BaseException) -> None:
        """Gives up a pool that lost a worker; the next is one of our own."""
        if self._given is not None:
            self._given = None
            warnings.warn(
                f"the executor broke ({type(error).__name__}: {error}): the search "
                "goes on in processes of its own",
                FitWarning,
                stacklevel=2,
            )
        if self._own is not None:
            self._own.shutdown(wait=False, kill_workers=True)
            self._own = None

    def close(self) -> None:
        """Ends our own processes; an executor that was given stays as it is."""
        if self._own is not None:
            self._own.shutdown(wait=False, kill_workers=True)
            self._own = None


def _failed(error: BaseException) -> Outcome:
    reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return {
        "error": f"lost with its worker: {reason}",
        "evaluations": 0,
        "seconds": 0.0,
        "passing": True,
    }
