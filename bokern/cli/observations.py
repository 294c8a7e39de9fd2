"""The data that a command line names, read from its table."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pandas import DataFrame, Series

from bokern.cli.tables import features_and_target, read_table
from bokern.errors import ColumnError, DataError

__all__ = ["Table", "read_observations"]

Ranges = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Table:
    """What was asked of a table.

    Args:
        X: Inputs.
        y: Target.
        bounds: The box, by column; None to take the range of the data.
        noise: Known variance of y, one number or one a row; None to infer it.
    """

    X: DataFrame
    y: Series
    bounds: Ranges | None
    noise: float | Series | None


def read_observations(arguments: argparse.Namespace) -> Table:
    """Reads the columns of a file.

    Args:
        arguments: ``file, target, features, bounds, noise``.

    Raises:
        DataError: If the file or a column cannot be used.
        ColumnError: If a column is not there, or named twice.
    """
    table = read_table(arguments.file)
    noise, column = _noise(arguments.noise, table, arguments.target)
    features = arguments.features
    if column is not None and features is None:
        left = [
            name for name in table.columns if name not in (arguments.target, column)
        ]
        features = [str(name) for name in left]
    X, y = features_and_target(table, arguments.target, features)
    return Table(X, y, _bounds(arguments.bounds, X), noise)


def _noise(
    text: str | None, table: DataFrame, target: str
) -> tuple[float | Series | None, str | None]:
    """A known variance, and the column that it was read from if it was one."""
    if text is None:
        return None, None
    if text in table.columns:
        _, variances = features_and_target(table, text, [target])
        return variances, text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise DataError(
            "expected --noise as a variance >= 0 or a column among "
            f"{list(map(str, table.columns))}, got '{text}'"
        )
    return value, None


def _bounds(
    declared: Sequence[tuple[str, tuple[float, float]]] | None, X: DataFrame
) -> Ranges | None:
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
