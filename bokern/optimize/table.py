"""Trials as a table."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from bokern.ax import StructureRecord
from bokern.optimize.objectives import SEM
from bokern.optimize.settings import Problem
from bokern.optimize.trial import Trial

SHOWN = 20
"""Rows of a table in a notebook."""


def trial_table(trials: Iterable[Trial], problem: Problem) -> pd.DataFrame:
    """A row a trial, with its columns even if there is none.

    Columns are ``trial``, the parameters, the outcomes (NaN unless completed), each
    followed by ``<outcome>_sem`` if any of its standard errors is known, ``status``,
    ``generator``, ``structure``, ``seconds`` and ``reason``.
    """
    trials = sorted(trials, key=lambda t: t.id)
    outcomes = [
        column
        for name in problem.outcomes
        for column in (name, f"{name}{SEM}")
        if column == name or any(t.sems.get(name) is not None for t in trials)
    ]
    rows: list[dict[str, Any]] = [
        {
            "trial": t.id,
            **t.parameters,
            **dict.fromkeys(outcomes, math.nan),
            **t.values,
            **{f"{n}{SEM}": sem for n, sem in t.sems.items() if sem is not None},
            "status": t.status,
            "generator": t.generator,
            "structure": t.structure,
            "seconds": t.seconds,
            "reason": t.reason,
        }
        for t in trials
    ]
    last = ["status", "generator", "structure", "seconds", "reason"]
    columns = ["trial", *problem.names, *outcomes, *last]
    return pd.DataFrame(rows, columns=columns)


def html_of(lines: Iterable[str], trials: pd.DataFrame) -> str:
    """Lines of text and a table of trials, as a notebook shows them; all escaped."""
    text = "<br>".join(html.escape(line) for line in lines)
    table = trials.to_html(index=False, escape=True, max_rows=SHOWN, na_rep="")
    return f"<p>{text}</p>{table}"


RANKED = (
    "outcome",
    "structure",
    "log_evidence",
    "standard_error",
    "gap",
    "probability",
    "observations",
)


def leaderboard(trials: Iterable[Trial], metrics: Mapping[str, str]) -> pd.DataFrame:
    """The structures of the newest record, ranked.

    Args:
        trials: Of the study.
        metrics: What Ax calls each outcome.
    """
    newest = [t for t in sorted(trials, key=lambda t: t.id) if t.record is not None][
        -1:
    ]
    record = StructureRecord.from_json(newest[0].record) if newest else None
    rows: list[dict[str, Any]] = []
    for outcome, metric in metrics.items():
        found = {} if record is None else record.evidence.get(metric, {})
        best = max((e["log_evidence"] for e in found.values()), default=0.0)
        ranked = sorted(found.items(), key=lambda item: -item[1]["probability"])
        rows += [
            {
                "outcome": outcome,
                "structure": structure,
                **numbers,
                "gap": numbers["log_evidence"] - best,
                "observations": record.searched_at.get(metric, 0) if record else 0,
            }
            for structure, numbers in ranked
        ]
    return pd.DataFrame(rows, columns=list(RANKED))
