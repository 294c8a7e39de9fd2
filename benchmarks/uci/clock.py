"""How much CPU time a fit has had."""

from __future__ import annotations

import time

LIMIT = 120.0
"""CPU seconds that a fit may take. Predictions come on top."""


class Clock:
    """Runs from its making, by the CPU time of this process.

    Args:
        limit: Seconds; None for ``LIMIT``.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = LIMIT if limit is None else limit
        self._start = time.process_time()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.process_time() - self._start

    @property
    def share(self) -> float:
        """Of the limit that is used; 1 or more when the time is up."""
        return self.seconds / self.limit

    @property
    def is_up(self) -> bool:
        """Whether the limit is reached."""
        return self.share >= 1.0
