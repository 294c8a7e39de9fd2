"""``bokern search``: find the structure of a table of the user's."""

from __future__ import annotations

import argparse

import torch

from bokern.cli.observations import read_observations
from bokern.cli.output import Output
from bokern.cli.paths import writable_file
from bokern.errors import BokernError
from bokern.reporting import report
from bokern.selection import Comparison, search
from bokern.structures import parse

__all__ = ["run"]


def run(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Search structures on the columns of a file, and say what was found.

    Args:
        arguments: Those of ``bokern compare``, and ``budget, rounds, smc, outcome,
            workers, journal, time_limit``.
        out: Where the ranking and the sentences go, or the comparison as JSON.
        err: Where progress is shown on a terminal, and where it is said that the
            report was written.

    Returns:
        The exit code.
    """
    torch.set_num_threads(1)  # matrices this small only lose time to threads
    page = writable_file(arguments.report) if arguments.report else None
    journal = writable_file(arguments.journal) if arguments.journal else None
    table = read_observations(arguments)
    texts = arguments.structures
    try:
        found = search(
            table.X,
            table.y,
            "auto" if texts is None else [parse(text) for text in texts],
            bounds=table.bounds,
            noise=table.noise,
            budget=arguments.budget,
            rounds=arguments.rounds,
            smc=arguments.smc,
            outcome=arguments.outcome,
            workers=arguments.workers,
            journal=journal,
            time_limit=arguments.time_limit,
            seed=arguments.seed,
            standardize=arguments.standardize,
        )
    except KeyboardInterrupt:
        if journal is not None:
            err.line(
                f"bokern: finished work is kept in {journal}: the same command goes on "
                "from it"
            )
        raise
    if page is not None:
        page = report(found, path=page, title=f"Structures for {arguments.target}")
    out.line(found.to_json() if arguments.json else f"{found}\n\n{_said(found)}")
    if page is not None:
        err.line(f"report written to {page}")
    return 0


def _said(found: Comparison) -> str:
    """The winner in sentences, or why there are none."""
    try:
        return str(found.explain())
    except BokernError as error:
        return f"{found.best} could not be taken apart: {error}"
