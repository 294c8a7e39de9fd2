"""How much a search may do."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import Any

import pandas as pd
from tqdm import tqdm

from bokern.errors import InputError
from bokern.inputs import is_whole
from bokern.structures import Structure
from bokern.structures.sense import evaluations as views_of

VIEWS_OF_ONE = 32
"""Views whose sum takes as long as all else of a likelihood: at 60 observations a mean
over 120 views takes 5 times as long as its base, one over 720 views 20 times."""

Limit = int | timedelta
"""Likelihood evaluations, or time."""

DEFAULT = 60_000
"""Likelihood evaluations, two minutes at 130 rows; those of sampled estimates do not
count."""


def charge(structure: Structure, evaluations: int) -> int:
    """What likelihood evaluations of a structure count in a budget."""
    return evaluations * (1 + views_of(structure) // VIEWS_OF_ONE)


def read_budget(budget: Any) -> Limit:
    """A budget from a whole number of evaluations, or a duration or its text.

    Raises:
        InputError: If it is neither, or not positive.
    """
    wrong = InputError(
        "budget is expected as a whole number of likelihood evaluations, such as "
        f"20000, or as a duration, such as '90s' or '5min', got {budget!r:.60}"
    )
    if budget is None:
        return DEFAULT
    if isinstance(budget, str) and budget.strip().isdigit():
        budget = int(budget)
    if is_whole(budget):
        if budget <= 0:
            raise wrong
        return int(budget)
    if not isinstance(budget, str | timedelta):
        raise wrong
    try:
        duration = pd.Timedelta(budget)
    except (ValueError, TypeError, OverflowError) as error:
        raise wrong from error
    if pd.isna(duration) or duration <= timedelta(0):
        raise wrong
    return duration.to_pytimedelta()


class Meter:
    """Counts what was spent, and shows it.

    Args:
        limit: What may be spent.
        progress: Whether to show a bar; on a terminal if None.
    """

    def __init__(self, limit: Limit, progress: bool | None = None) -> None:
        self.limit = limit
        self.spent = 0
        self._began = time.monotonic()
        hidden = not sys.stderr.isatty() if progress is None else not progress
        timed = isinstance(limit, timedelta)
        self._bar = tqdm(
            total=limit.total_seconds() if isinstance(limit, timedelta) else limit,
            unit="s" if timed else "evaluation",
            unit_scale=not timed,
            desc="searching",
            disable=hidden,
            bar_format="{desc}: {percentage:3.0f}% of the budget |{bar}| "
            "{elapsed}, at most {remaining} left{postfix}",
        )

    @property
    def share(self) -> float:
        """The share of the budget that is spent, 1 or more at its end."""
        if isinstance(self.limit, timedelta):
            return (time.monotonic() - self._began) / self.limit.total_seconds()
        return self.spent / self.limit

    def spend(self, evaluations: int) -> None:
        """Adds evaluations, in a fixed order of the work."""
        self.spent += evaluations

    def show(self, stage: str, best: str = "") -> None:
        """Brings the bar up to date."""
        self._bar.set_description_str(stage, refresh=False)
        self._bar.set_postfix_str(best[:60], refresh=False)
        self._bar.n = min(self.share, 1.0) * self._bar.total if self._bar.total else 0
        self._bar.refresh()

    def close(self) -> None:
        """Leaves the bar as it is."""
        self._bar.close()
