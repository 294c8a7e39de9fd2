"""``bokern export``, ``import`` and ``check``: trials out and in, and whether sound."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

from bokern.cli.output import Output
from bokern.cli.paths import writable_file
from bokern.cli.tables import read_table
from bokern.errors import StorageError
from bokern.optimize import Study, repair
from bokern.optimize.log import EventLog
from bokern.optimize.repair import unreadable
from bokern.optimize.settings import Problem

__all__ = ["bring", "check", "export"]


def export(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Write the trials of a study into a file.

    Args:
        arguments: ``study, name, file, form, json``.
        out: Where it is said.
        err: Not used.

    Returns:
        The exit code.
    """
    path = writable_file(arguments.file)
    study = Study(arguments.study, name=arguments.name)
    form = arguments.form or {".json": "json"}.get(path.suffix, "csv")
    try:
        if form == "ax":
            study.client.save_to_json_file(str(path))
        elif form == "json":
            rows = [study[i].to_json() for i in study.trials["trial"]]
            document = {"problem": study.problem.to_json(), "trials": rows}
            path.write_text(json.dumps(document, indent=1), encoding="utf-8")
        else:
            study.trials.to_csv(path, index=False)
    except OSError as error:
        raise StorageError(f"'{path}' cannot be written: {error}") from error
    count = len(study)
    if arguments.json:
        out.line(json.dumps({"file": str(path), "trials": count}))
    else:
        out.line(f"{count} trials written to {path}")
    return 0


def bring(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Add past trials from a table to a study.

    Args:
        arguments: ``study, name, file, json``.
        out: Where it is said.
        err: Not used.

    Returns:
        The exit code.
    """
    study = Study(arguments.study, name=arguments.name)
    table = _typed(read_table(arguments.file), study.problem)
    added = study.add(table)
    failed = sum(t.status == "failed" for t in added)
    if arguments.json:
        out.line(json.dumps({"added": len(added), "failed": failed}))
    else:
        out.line(f"{len(added)} trials added, {failed} of them failed")
    return 0


def _typed(table: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """The table with texts where the study has texts that look like numbers."""
    texts = [p.name for p in problem.parameters if p.kind == "str"]
    return table.astype({name: str for name in texts if name in table.columns})


def check(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Whether a study is as it was written, and a copy of all that is.

    Args:
        arguments: ``study, name, repair, json``.
        out: Where it is said.
        err: Not used.

    Returns:
        The exit code; 1 if the study is damaged.
    """
    try:
        log = EventLog(arguments.study, arguments.name, create=False)
        damages = [(d.number, d.what) for d in log.damages()]
        count = 0 if damages else len(log.read())
    except StorageError as error:
        if not Path(arguments.study).is_file():
            raise
        named = unreadable(arguments.study, arguments.name)
        damages = [(0, str(error)), *((d.number, d.what) for d in named)]
        count = 0
    document: dict[str, object] = {"sound": not damages, "damages": damages}
    said = [f"event {n}: {what}" if n else what for n, what in damages]
    if not damages:
        said = [f"sound: {count} events"]
    if arguments.repair:
        try:
            done = repair(arguments.study, arguments.repair, arguments.name)
        except StorageError:
            err.line("\n".join(said))
            raise
        document["repair"] = {"kept": done.kept, "lost": done.lost}
        said.append(
            f"{done.kept} events written to {arguments.repair}, "
            f"{len(done.lost)} lost{': ' if done.lost else ''}"
            f"{', '.join(map(str, done.lost[:20]))}"
        )
        if done.unproven:
            said.append(f"kept, though the event before is lost: {done.unproven[:20]}")
    out.line(json.dumps(document) if arguments.json else "\n".join(said))
    return 1 if damages else 0
