"""How long work on one structure may take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bokern.errors import TimeLimitError

_deadline: ContextVar[tuple[float, float] | None] = ContextVar("deadline", default=None)
"""When the work must end, by `time.monotonic`, and the seconds that it was allowed."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Ends work on objectives after some time, at the next evaluation.

    Screening, optimisation, curvature and sampling all evaluate an objective, a batch
    at a time, so that they overrun by one batch at most.

    Args:
        seconds: How long, from now; without limit if None.

    Raises:
        TimeLimitError: From whatever evaluates an objective when the time is up.
    """
    ends = None if seconds is None else (time.monotonic() + seconds, seconds)
    token = _deadline.set(ends)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Raises `TimeLimitError` if the time of a surrounding `time_limit` is up."""
    limit = _deadline.get()
    if limit is not None and time.monotonic() > limit[0]:
        raise TimeLimitError(
            f"it took longer than the {limit[1]:g} s allowed to a structure: raise "
            "time_limit, or leave the structure out"
        )
