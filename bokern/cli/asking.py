"""``bokern ask`` and ``bokern tell``: trials that are evaluated elsewhere."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

import torch

from bokern.cli.output import Output
from bokern.errors import InputError
from bokern.optimize import Study

__all__ = ["ask", "tell"]


def ask(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Ask for trials, a line of JSON each.

    Args:
        arguments: ``study, name, count, lease``.
        out: Where the trials go.
        err: Not used.

    Returns:
        The exit code.
    """
    torch.set_num_threads(1)
    study = Study(arguments.study, name=arguments.name)
    for trial in study.ask(arguments.count, lease=arguments.lease):
        document = {"trial": trial.id, "parameters": dict(trial.parameters)}
        out.line(json.dumps(document))
    return 0


def tell(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Store the outcome of a trial.

    Args:
        arguments: ``study, name, trial, value, sem, failed, json``.
        out: Where it is said.
        err: Not used.

    Returns:
        The exit code.
    """
    study = Study(arguments.study, name=arguments.name)
    trial: Any = arguments.trial
    if not isinstance(trial, int):
        trial = _object(trial, "a trial is its number, or its parameters as JSON")
    if arguments.failed is not None:
        if arguments.value is not None:
            raise InputError("a trial has a value or --failed, not both")
        told = study.fail(trial, arguments.failed)
    else:
        told = study.tell(trial, _value(arguments.value), _value(arguments.sem))
    if arguments.json:
        out.line(json.dumps(told.to_json()))
    else:
        out.line(f"trial {told.id} is {told.status}")
    return 0


def _value(text: str | None) -> Any:
    """A number, or numbers by outcome as JSON."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return _object(text, "a value is a number, or numbers by outcome as JSON")


def _object(text: str, expected: str) -> dict[str, Any]:
    try:
        found = json.loads(_decoded(text), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{expected}, such as '{{\"x\": 0.5}}', got '{text:.60}'")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"{twice!r:.60} stands twice in the JSON: leave it once")
    return found


def _decoded(text: str) -> str:
    """What was typed, in a locale too whose encoding Python takes for ASCII."""
    try:
        return os.fsencode(text).decode("utf-8")
    except ValueError:
        return text
