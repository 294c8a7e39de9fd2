"""``bokern status``, ``best``, ``leaderboard`` and ``report``: what a study holds."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pandas as pd
import torch

from bokern.cli.output import Output
from bokern.cli.paths import writable_file
from bokern.optimize import Study, Trial
from bokern.reporting import report as write_report

__all__ = ["best", "leaderboard", "report", "status"]


def status(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """How far a study is.

    Args:
        arguments: ``study, name, json``.
        out: Where it is said.
        err: Not used.

    Returns:
        The exit code.
    """
    study = Study(arguments.study, name=arguments.name)
    counts = study.trials["status"].value_counts()
    problem = study.problem
    document = {
        "study": arguments.study,
        "objectives": {o.name: o.direction for o in problem.objectives},
        "trials": len(study),
        **{
            name: int(counts.get(name, 0))
            for name in ("completed", "failed", "pending")
        },
        "pending_trials": [t.id for t in study.pending],
        "best": [t.to_json() for t in study.pareto],
    }
    if arguments.json:
        out.line(json.dumps(document))
        return 0
    out.line(
        f"{document['trials']} trials: {document['completed']} completed, "
        f"{document['failed']} failed, {document['pending']} pending"
    )
    for trial in study.pending:
        out.line(f"  pending {trial.id}: {_point(trial)}")
    for trial in study.pareto[:10]:
        out.line(f"best: {_told(trial)}")
    return 0


def best(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """The best trial, or those that no other beats.

    Args:
        arguments: ``study, name, json``.
        out: Where they go.
        err: Not used.

    Returns:
        The exit code; 1 if there is none.
    """
    study = Study(arguments.study, name=arguments.name)
    found = [study.best] if len(study.problem.objectives) == 1 else study.pareto
    for trial in found:
        out.line(json.dumps(trial.to_json()) if arguments.json else _told(trial))
    return 0 if found else 1


def leaderboard(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """The structures that were compared last.

    Args:
        arguments: ``study, name, json``.
        out: Where they go.
        err: Not used.

    Returns:
        The exit code.
    """
    table = Study(arguments.study, name=arguments.name).leaderboard
    if arguments.json:
        out.line(table.to_json(orient="records"))
    elif table.empty:
        out.line("no structures were compared yet")
    else:
        out.line(_text(table))
    return 0


def report(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Write a page about a study.

    Args:
        arguments: ``study, name, out, json``.
        out: Where it is said where the page is.
        err: Not used.

    Returns:
        The exit code.
    """
    torch.set_num_threads(1)
    page = writable_file(arguments.out)
    study = Study(arguments.study, name=arguments.name)
    page = write_report(study.result(), path=page, title=f"Study {arguments.study}")
    out.line(json.dumps({"report": str(page)}) if arguments.json else str(page))
    return 0


def _told(trial: Trial) -> str:
    values = ", ".join(f"{k} = {v:.8g}" for k, v in trial.values.items())
    return f"{values} at {_point(trial)} (trial {trial.id})"


def _point(trial: Trial) -> str:
    return ", ".join(f"{k} = {_short(v)}" for k, v in trial.parameters.items())


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _text(table: pd.DataFrame) -> str:
    shown = table.copy()
    for name in ("log_evidence", "standard_error", "gap"):
        shown[name] = [f"{v:.2f}" for v in shown[name]]
    shown["probability"] = [f"{v:.3f}" for v in shown["probability"]]
    return str(shown.to_string(index=False))
