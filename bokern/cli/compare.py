"""``bokern compare``: rank structures on a table of the user's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from pandas import DataFrame

from bokern.cli.candidates import default_structures
from bokern.cli.output import Output
from bokern.cli.paths import writable_file
from bokern.cli.tables import features_and_target, read_table
from bokern.errors import ColumnError
from bokern.reporting import report
from bokern.selection import compare
from bokern.structures import parse

__all__ = ["run"]


def run(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Compare structures on the columns of a file.

    Args:
        arguments: ``file, target, features, structures, bounds, report, json, seed``.
        out: Where the ranking goes, as a table or as JSON.
        err: Where it is said that the report was written.

    Returns:
        The exit code.
    """
    torch.set_num_threads(1)  # matrices this small only lose time to threads
    page = writable_file(arguments.report) if arguments.report else None
    X, y = features_and_target(
        read_table(arguments.file), arguments.target, arguments.features
    )
    texts = arguments.structures or default_structures(X.shape[1])
    found = compare(
        [parse(text) for text in texts],
        X,
        y,
        bounds=_bounds(arguments.bounds, X),
        seed=arguments.seed,
    )
    if page is not None:
        page = report(found, path=page, title=f"Structures for {arguments.target}")
    out.line(found.to_json() if arguments.json else str(found))
    if page is not None:
        err.line(f"report written to {page}")
    return 0


def _bounds(
    declared: Sequence[tuple[str, tuple[float, float]]] | None, X: DataFrame
) -> dict[str, tuple[float, float]] | None:
    """The declared ranges, completed by the range of the data."""
    if not declared:
        return None
    ranges = dict(declared)
    unknown = [name for name, _ in declared if name not in X.columns]
    if unknown or len(ranges) < len(declared):
        raise ColumnError(
            f"expected --bounds once for features among {list(X.columns)}, got "
            f"{[name for name, _ in declared]}; name columns as in the header"
        )
    seen = {name: (float(X[name].min()), float(X[name].max())) for name in X.columns}
    return {**seen, **ranges}
