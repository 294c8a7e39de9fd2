"""Columns by name or number."""

from __future__ import annotations

from collections.abc import Sequence

from bokern.errors import ColumnError

Column = str | int


def check_column(column: object) -> None:
    """Checks that a column is a name or a number.

    Raises:
        ColumnError: If it is neither.
    """
    if isinstance(column, bool) or not isinstance(column, str | int):
        raise ColumnError(
            f"a column is a name or a number, got {column!r} of type "
            f"{type(column).__name__}"
        )


def column_name(column: Column, names: Sequence[str]) -> Column:
    """A numbered column's name, or the column itself if it has none there."""
    if isinstance(column, int) and 0 <= column < len(names):
        return names[column]
    return column


def resolve_column(column: Column, names: Sequence[str]) -> int:
    """The number of a column given by name or number.

    Raises:
        ColumnError: If there is no such column.
    """
    check_column(column)
    if isinstance(column, int):
        if 0 <= column < len(names):
            return column
        raise ColumnError(
            f"column {column} does not exist: there are {len(names)}, numbered from 0"
        )
    if column in names:
        return list(names).index(column)
    raise ColumnError(
        f"column {column!r} does not exist: expected one of {list(names)}"
    )
