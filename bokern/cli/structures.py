"""``bokern structures``: what there is, a line each."""

from __future__ import annotations

import argparse
import json

from bokern.cli.output import Output
from bokern.structures import catalogue

__all__ = ["run"]


def run(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """List the structures.

    Args:
        arguments: ``json``.
        out: Where the list goes.
        err: Not used.

    Returns:
        The exit code.
    """
    entries = catalogue()
    if arguments.json:
        fields = ("text", "family", "summary")
        rows = [{name: getattr(entry, name) for name in fields} for entry in entries]
        out.line(json.dumps(rows, indent=2))
        return 0
    text = max(len(entry.text) for entry in entries)
    family = max(len(entry.family) for entry in entries)
    for entry in entries:
        out.line(f"{entry.text:{text}}  {entry.family:{family}}  {entry.summary}")
    return 0
