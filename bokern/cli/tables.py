"""A table of numbers from a file, or one line that says what is wrong with it."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
import zlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bokern.errors import ColumnError, DataError

__all__ = ["features_and_target", "read_table"]

LARGEST = 256 * 2**20
"""Bytes of text; far more rows than a Gaussian process can take."""

_GZIP = b"\x1f\x8b"


def read_table(path: str) -> pd.DataFrame:
    """Read a CSV, TSV or semicolon-separated table, gzipped or not.

    Args:
        path: A local file with a header line, in UTF-8.

    Returns:
        The table, columns as in the file.

    Raises:
        DataError: If the file cannot be read, is too large, or is no table.
        ColumnError: If a column has no name or two have the same.
    """
    text = _text(path)
    header = text.split("\n", 1)[0]
    if not header.strip():
        raise DataError(
            f"expected a table with a header line, got nothing in '{path}'; write the "
            "column names into its first line"
        )
    separator = max("\t;,", key=header.count)
    _check_names(next(csv.reader([header], delimiter=separator)), path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(io.StringIO(text), sep=separator, index_col=False)
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DataError(
            f"expected a table with one value per column in each row, got '{path}', "
            f"which does not parse ({error}); mend that row"
        ) from error


def features_and_target(
    table: pd.DataFrame, target: str, features: Sequence[str] | None
) -> tuple[pd.DataFrame, pd.Series]:
    """Choose the columns to model and check that they hold numbers.

    Args:
        table: As read.
        target: Name of the target.
        features: Names of the inputs; all other columns by default.

    Returns:
        Inputs and target, as floats.

    Raises:
        ColumnError: If a column is not there, named twice, or none is left.
        DataError: If a column holds something else than finite numbers.
    """
    there = [str(name) for name in table.columns]
    _check_there("target column", [target], there)
    if features is None:
        features = [name for name in there if name != target]
        remedy = f"name the inputs with --features, leaving it out, or {_ENCODE}"
    else:
        _check_there("feature columns", features, there)
        remedy = f"leave it out of --features, or {_ENCODE}"
    if target in features:
        raise ColumnError(
            f"expected features other than the target '{target}', got it among them; "
            "leave it out of --features"
        )
    if len(set(features)) < len(features):
        raise ColumnError(
            f"expected each feature once, got {list(features)}; name each column once"
        )
    if not features:
        raise ColumnError(
            f"expected at least one column besides the target '{target}', got none; "
            "add the inputs to the table"
        )
    if table.empty:
        raise DataError("expected rows below the header, got none; add the data")
    _check_numbers(table, features, remedy)
    _check_numbers(table, [target], f"choose another target, or {_ENCODE}")
    return table[list(features)].astype(float), table[target].astype(float)


_ENCODE = "encode it as numbers"


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(LARGEST + 1)
        if raw.startswith(_GZIP):
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
                raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise DataError(
                f"expected a table of at most {LARGEST >> 20} MiB of text, got more in "
                f"'{path}'; take a sample of its rows"
            )
        text = raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = error.strerror if isinstance(error, OSError) else None
        if isinstance(error, UnicodeDecodeError):
            reason = "it is not UTF-8 text"
        raise DataError(
            f"expected a readable CSV, TSV or CSV.gz file, got '{path}' "
            f"({reason or error}); check the path and the file"
        ) from error
    if "\0" in text:
        raise DataError(
            f"expected text, got '{path}', which holds binary data; export the table "
            "as CSV"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_names(names: list[str], path: str) -> None:
    if any(not name.strip() for name in names):
        raise ColumnError(
            f"expected a name for each column, got {names} in '{path}'; complete the "
            "header line"
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ColumnError(
            f"expected each column name once, got {twice} more than once in '{path}'; "
            "rename them"
        )


def _check_there(what: str, wanted: Sequence[str], there: list[str]) -> None:
    missing = [name for name in wanted if name not in there]
    if missing:
        raise ColumnError(
            f"expected {what} among {there}, got {', '.join(map(repr, missing))}; "
            "name columns as in the header"
        )


def _check_numbers(table: pd.DataFrame, names: Sequence[str], remedy: str) -> None:
    for name in names:
        column = table[name]
        numeric = pd.api.types.is_numeric_dtype(column)
        if not numeric or pd.api.types.is_bool_dtype(column):
            text = column.dropna().astype(str)
            bad = text[pd.to_numeric(text, errors="coerce").isna()]
            example = bad.iloc[0] if len(bad) else (text.iloc[0] if len(text) else "")
            raise DataError(
                f"expected numbers in column '{name}', got '{example[:40]}'; {remedy}"
            )
        finite = np.isfinite(column.to_numpy(dtype=float))
        if not finite.all():
            row = int(np.flatnonzero(~finite)[0]) + 1
            raise DataError(
                f"expected a finite number in each row of column '{name}', got "
                f"{int((~finite).sum())} missing or infinite, the first in row {row} "
                "below the header; fill in or remove these rows"
            )
