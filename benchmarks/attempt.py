"""A piece of work that is recorded whether it succeeds or not."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Callable

from benchmarks.tasks import Record
from benchmarks.versions import versions


def attempt(work: Callable[[], Record]) -> Record:
    """What the work returns, its costs, and its failure if it fails.

    Returns:
        The work's own record, and ``error`` (None, or the end of the traceback),
        ``cpu_seconds`` (of this process and of children that have ended),
        ``wall_seconds``, ``warnings`` (counts by category) and ``versions``.
    """
    error = None
    found: Record = {}
    cpu, wall = cpu_seconds(), time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = work()
        except Exception:
            error = traceback.format_exc(limit=-3)
    return {
        **found,
        "error": error,
        "cpu_seconds": cpu_seconds() - cpu,
        "wall_seconds": time.perf_counter() - wall,
        "warnings": _counts(caught),
        "versions": versions(),
    }


def cpu_seconds() -> float:
    """CPU time so far, of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _counts(caught: list[warnings.WarningMessage]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for warning in caught:
        kind = warning.category.__name__
        counts[kind] = counts.get(kind, 0) + 1
    return counts
