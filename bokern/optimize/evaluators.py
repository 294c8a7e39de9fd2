"""Where a black box is evaluated: in this process, or in others that can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from queue import SimpleQueue
from typing import Any, Protocol

from loky.process_executor import ProcessPoolExecutor, TerminatedWorkerError

from bokern.optimize.black_box import BlackBox, Outcome


class Evaluator(Protocol):
    """Evaluates points."""

    def submit(self, parameters: Mapping[str, Any]) -> Future[Outcome]:
        """Begins an evaluation, or does it at once."""

    def close(self) -> None:
        """Ends what is still running."""


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


class Isolated:
    """Each evaluation in a process that is stopped when it takes too long.

    A process that dies, by a crash of the function or for want of memory, is a failure
    of its trial alone.

    Args:
        black_box: To be evaluated; sent to the processes by cloudpickle, so that
            functions of a notebook will do.
        slots: Evaluations at a time.
        time_limit: Seconds for each; None for no limit.
    """

    def __init__(
        self, black_box: BlackBox, slots: int, time_limit: float | None
    ) -> None:
        self._black_box = black_box
        self._time_limit = time_limit
        self._threads = ThreadPoolExecutor(slots)
        self._free: SimpleQueue[ProcessPoolExecutor | None] = SimpleQueue()
        self._working: set[ProcessPoolExecutor] = set()
        self._lock = threading.Lock()
        self._closed = False
        for _ in range(slots):
            self._free.put(None)

    def submit(self, parameters: Mapping[str, Any]) -> Future[Outcome]:
        """Begins an evaluation as soon as a slot is free."""
        return self._threads.submit(self._evaluate, dict(parameters))

    def _evaluate(self, parameters: dict[str, Any]) -> Outcome:
        worker = self._free.get() or ProcessPoolExecutor(max_workers=1)
        with self._lock:
            self._working.add(worker)
        kept: ProcessPoolExecutor | None = worker
        try:
            return worker.submit(self._black_box, parameters).result(self._time_limit)
        except FutureTimeoutError:
            kept = None
            return Outcome(
                reason=f"stopped at its time limit of {self._time_limit:g} s"
            )
        except TerminatedWorkerError:
            kept = None
            return Outcome(
                reason="its process died: the function crashed, or memory ran out"
            )
        except Exception as error:  # what cannot be sent, in either direction
            return Outcome(reason=f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self._working.discard(worker)
            if kept is None and not self._closed:
                worker.shutdown(wait=False, kill_workers=True)
            self._free.put(kept)

    def close(self) -> None:
        """Stops all processes."""
        self._closed = True
        with self._lock:
            working = list(self._working)
        for worker in working:
            worker.shutdown(wait=False, kill_workers=True)
        self._threads.shutdown(wait=True, cancel_futures=True)
        while not self._free.empty():
            worker = self._free.get()
            if worker is not None:
                worker.shutdown(wait=True, kill_workers=True)
