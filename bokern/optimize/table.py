"""Trials as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from bokern.optimize.settings import Problem
from bokern.optimize.trial import Trial


def trial_table(trials: Iterable[Trial], problem: Problem) -> pd.DataFrame:
    """A row a trial, with its columns even if there is none.

    Columns are ``trial``, the parameters, the outcomes (NaN unless completed),
    ``status``, ``generator``, ``structure``, ``seconds`` and ``reason``.
    """
    rows: list[dict[str, Any]] = [
        {
            "trial": t.id,
            **t.parameters,
            **{name: t.values.get(name, math.nan) for name in problem.outcomes},
            "status": t.status,
            "generator": t.generator,
            "structure": t.structure,
            "seconds": t.seconds,
            "reason": t.reason,
        }
        for t in sorted(trials, key=lambda t: t.id)
    ]
    last = ["status", "generator", "structure", "seconds", "reason"]
    columns = ["trial", *problem.names, *problem.outcomes, *last]
    return pd.DataFrame(rows, columns=columns)
