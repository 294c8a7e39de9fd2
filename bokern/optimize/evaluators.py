"""Where a black box is evaluated: in this process, or in others that can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from queue import SimpleQueue
from typing import Any, Protocol

from loky.process_executor import (
    ProcessPoolExecutor,
    ShutdownExecutorError,
    TerminatedWorkerError,
)

from bokern.optimize.black_box import BlackBox, Outcome


class Evaluator(Protocol):
    """Evaluates points."""

    def submit(self, parameters: Mapping[str, Any]) -> Future[Outcome]:
        """Begins an evaluation, or does it at once."""

    def close(self) -> None:
        """Ends what is still running."""


Make = Callable[[BlackBox, int, float | None], Evaluator]
"""Makes an evaluator of a black box, evaluations at a time, and seconds for each."""


class Here:
    """In this process, one at a time; what is not an `Exception` goes through.

    Args:
        black_box: To be evaluated.
    """

    def __init__(self, black_box: BlackBox) -> None:
        self._black_box = black_box

    def submit(self, parameters: Mapping[str, Any]) -> Future[Outcome]:
        """Evaluates at once."""
        future: Future[Outcome] = Future()
        future.set_result(self._black_box(parameters))
        return future

    def close(self) -> None:
        """Nothing runs on."""


class InThreads:
    """In threads of this process, for functions that start processes of their own.

    Args:
        black_box: To be evaluated. If its function has a method ``stop``, that is
            called when a run ends early.
        count: Evaluations at a time.
        time_limit: Not used: the function keeps its own.
    """

    def __init__(
        self, black_box: BlackBox, count: int, time_limit: float | None
    ) -> None:
        self._black_box = black_box
        self._threads = ThreadPoolExecutor(count)

    def submit(self, parameters: Mapping[str, Any]) -> Future[Outcome]:
        """Begins an evaluation as soon as a thread is free."""
        return self._threads.submit(self._black_box, parameters)

    def close(self) -> None:
        """Stops what is running."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        stop = getattr(self._black_box.function, "stop", None)
        if stop is not None:
            stop()
        self._threads.shutdown(wait=True)


class Isolated:
    """Each evaluation in a process that is stopped when it takes too long.

    A process that dies, by a crash of the function or for want of memory, is a failure
    of its trial alone.

    Args:
        black_box: To be evaluated; sent to the processes by cloudpickle, so that
            functions of a notebook will do.
        count: Evaluations at a time.
        time_limit: Seconds for each; None for no limit.
    """

    def __init__(
        self, black_box: BlackBox, count: int, time_limit: float | None
    ) -> None:
        self._slots = [_Slot(black_box, time_limit) for _ in range(count)]
        self._free: SimpleQueue[_Slot] = SimpleQueue()
        for slot in self._slots:
            self._free.put(slot)
        self._threads = ThreadPoolExecutor(count)

    def submit(self, parameters: Mapping[str, Any]) -> Future[Outcome]:
        """Begins an evaluation as soon as a slot is free."""
        return self._threads.submit(self._evaluate, parameters)

    def _evaluate(self, parameters: Mapping[str, Any]) -> Outcome:
        slot = self._free.get()
        try:
            return slot.evaluate(parameters)
        finally:
            self._free.put(slot)

    def close(self) -> None:
        """Stops all processes."""
        for slot in self._slots:
            slot.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for slot in self._slots:
            slot.stop()  # what was begun meanwhile


class _Slot:
    """One process at a time, begun when it is needed."""

    def __init__(self, black_box: BlackBox, time_limit: float | None) -> None:
        self._black_box = black_box
        self._time_limit = time_limit
        self._worker: ProcessPoolExecutor | None = None

    def evaluate(self, parameters: Mapping[str, Any]) -> Outcome:
        """The outcome at a point."""
        try:
            if self._worker is None:
                self._worker = _started(self._black_box.function)
            future = self._worker.submit(self._black_box.bound(parameters))
            return self._black_box.outcome(future.result(self._time_limit))
        except FutureTimeoutError:
            self.stop()
            reason = f"stopped at its time limit of {self._time_limit:g} s"
        except (TerminatedWorkerError, ShutdownExecutorError):
            self.stop()
            reason = "its process died: the function crashed, or memory ran out"
        except Exception as error:  # also what cannot be sent, in either direction
            return Outcome.of(error)
        return Outcome(reason=reason)

    def stop(self) -> None:
        """Kills the process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown(wait=True, kill_workers=True)


def _started(f: Callable[..., Any]) -> ProcessPoolExecutor:
    """A process that has the function, so that no evaluation is charged for its start.

    Loky would take a process that grew by 300 MB, as one does that imports torch, for
    one that leaks, and restart it.
    """
    worker = ProcessPoolExecutor(1, env={"LOKY_MAX_MEMORY_LEAK_SIZE": "1e18"})
    worker.submit(callable, f).result()
    return worker
