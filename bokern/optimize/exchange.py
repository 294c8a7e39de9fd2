"""Past trials from elsewhere, as `Study.add` takes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from ax.api.client import Client
from ax.core.experiment import Experiment

from bokern.errors import ColumnError, DataError
from bokern.optimize.mirror import METRIC
from bokern.optimize.objectives import SEM, VALUE
from bokern.optimize.settings import Problem
from bokern.optimize.space import RESERVED
from bokern.optimize.trial import COMPLETED, FAILED, PENDING

Row = Mapping[str, Any]


def rows_of(data: Any, problem: Problem) -> list[Row]:
    """Rows of past trials with ``parameters`` and ``values`` or a ``reason``.

    Args:
        data: A DataFrame with a column for each parameter and outcome, and perhaps
            ``<outcome>_sem``, ``status`` and ``reason``; an Optuna study; an Ax client
            or experiment; or rows as they are returned.
        problem: Whose trials they are to be.

    Raises:
        ColumnError: If columns are missing, repeated or unknown.
        DataError: If it is none of these, or outcomes are missing.
    """
    if isinstance(data, pd.DataFrame):
        return _of_frame(data, problem)
    if isinstance(data, Client):
        data = data._experiment
    if isinstance(data, Experiment):
        return _of_ax(data, problem)
    if type(data).__module__.partition(".")[0] == "optuna" and hasattr(data, "trials"):
        return _of_optuna(data.trials, problem)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return list(data)
    raise DataError(
        "past trials are expected as a DataFrame, an Optuna study, an Ax client or "
        f"experiment, or a list of dictionaries, got {type(data).__name__}"
    )


def _of_frame(frame: pd.DataFrame, problem: Problem) -> list[Row]:
    columns = [str(c) for c in frame.columns]
    repeated = sorted({c for c in columns if columns.count(c) > 1})
    if repeated:
        raise ColumnError(f"the table names columns twice: {repeated}: rename them")
    searched = [p.name for p in problem.searched]
    missing = [c for c in [*searched, *problem.outcomes] if c not in columns]
    if missing:
        raise ColumnError(
            f"the table lacks the columns {missing}: it needs one for each parameter, "
            f"{searched}, and each outcome, {problem.outcomes}"
        )
    sems = {name: f"{name}{SEM}" for name in problem.outcomes}
    known = {*problem.names, *problem.outcomes, *sems.values(), *RESERVED}
    unknown = [c for c in columns if c not in known]
    if unknown:
        raise ColumnError(
            f"the table has unknown columns {unknown!r:.100}: leave them out; columns "
            f"of standard errors are called {list(sems.values())}"
        )
    frame = frame.set_axis(columns, axis=1)
    names = [name for name in problem.names if name in columns]
    rows: list[Row] = []
    for number, record in enumerate(frame.to_dict("records")):
        row: dict[str, Any] = {"parameters": {n: record[n] for n in names}}
        status = record.get("status", COMPLETED)
        if status == PENDING:
            continue
        if status == FAILED:
            reason = record.get("reason")
            told = isinstance(reason, str) and reason
            rows.append({**row, "reason": reason if told else "failed before"})
            continue
        if status != COMPLETED and not _is_missing(status):
            raise DataError(
                f"row {number}: the status is {COMPLETED!r}, {FAILED!r} or "
                f"{PENDING!r}, got {status!r:.60}: mend it, or leave out the column"
            )
        row["values"] = {name: record[name] for name in problem.outcomes}
        row["sems"] = {
            name: record[column]
            for name, column in sems.items()
            if column in record and not _is_missing(record[column])
        }
        rows.append(row)
    return rows


def _of_ax(experiment: Experiment, problem: Problem) -> list[Row]:
    found = experiment.lookup_data().df
    alias = {METRIC: VALUE} if VALUE in problem.outcomes else {}
    if len(problem.outcomes) == 1 and len(set(found["metric_name"])) == 1:
        alias = {found["metric_name"].iloc[0]: problem.outcomes[0]}
    rows: list[Row] = []
    for index, trial in sorted(experiment.trials.items()):
        mine = found[found["trial_index"] == index]
        for arm in trial.arms:
            row: dict[str, Any] = {"parameters": dict(arm.parameters)}
            data = mine[mine["arm_name"] == arm.name]
            if trial.status.is_failed:
                reason = getattr(trial, "status_reason", None) or "failed in Ax"
                rows.append({**row, "reason": reason})
            elif len(data):
                names = [alias.get(n, n) for n in data["metric_name"]]
                kept = [name in problem.outcomes for name in names]
                means = zip(names, data["mean"], data["sem"], kept, strict=True)
                told = [(n, m, s) for n, m, s, keep in means if keep]
                row["values"] = {n: m for n, m, _ in told}
                row["sems"] = {n: s for n, _, s in told if not _is_missing(s)}
                rows.append(row)
    return rows


def _of_optuna(trials: Iterable[Any], problem: Problem) -> list[Row]:
    if len(problem.outcomes) > len(problem.objectives):
        raise DataError(
            "an Optuna study has no outcomes beside its objectives, this one needs "
            f"{problem.outcomes}: pass a DataFrame with a column for each"
        )
    rows: list[Row] = []
    for trial in trials:
        row: dict[str, Any] = {"parameters": dict(trial.params)}
        match trial.state.name:
            case "COMPLETE":
                values = dict(zip(problem.outcomes, trial.values, strict=False))
                rows.append({**row, "values": values})
            case "FAIL":
                rows.append({**row, "reason": "failed in Optuna"})
            case "PRUNED":
                rows.append({**row, "reason": "pruned in Optuna"})
    return rows


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
