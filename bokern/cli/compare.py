"""``bokern compare``: rank structures on a table of the user's."""

from __future__ import annotations

import argparse

import torch

from bokern.cli.candidates import default_structures
from bokern.cli.observations import read_observations
from bokern.cli.output import Output
from bokern.cli.paths import writable_file
from bokern.reporting import report
from bokern.selection import compare
from bokern.structures import parse

__all__ = ["run"]


def run(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Compare structures on the columns of a file.

    Args:
        arguments: ``file, target, features, structures, bounds, noise, standardize,
            report, json, seed``.
        out: Where the ranking goes, as a table or as JSON.
        err: Where it is said that the report was written.

    Returns:
        The exit code.
    """
    torch.set_num_threads(1)  # matrices this small only lose time to threads
    page = writable_file(arguments.report) if arguments.report else None
    table = read_observations(arguments)
    texts = arguments.structures or default_structures(table.X.shape[1])
    found = compare(
        [parse(text) for text in texts],
        table.X,
        table.y,
        bounds=table.bounds,
        noise=table.noise,
        standardize=arguments.standardize,
        seed=arguments.seed,
    )
    if page is not None:
        page = report(found, path=page, title=f"Structures for {arguments.target}")
    out.line(found.to_json() if arguments.json else str(found))
    if page is not None:
        err.line(f"report written to {page}")
    return 0
