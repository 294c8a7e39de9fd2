"""The table of bad input: what is refused, and what is served all the same."""

from __future__ import annotations

from tests.optimize.matrix import spaces, storage, trials, values
from tests.optimize.matrix.row import Bench, Row, Served

ITEMS = {
    "Values": (
        "NaN",
        "±inf",
        "None",
        '"3.2"',
        '"abc"',
        "complex",
        "bool",
        "one-element tensor (accepted)",
        "wrong length",
        "wrong metric name",
        "empty",
        "sem 0 (accepted as noise-free)",
        "sem < 0",
        "|y| ≥ 1e100",
        "constant y × 20",
        "all trials failed, then best",
        "exception",
        "KeyboardInterrupt",
        "SystemExit",
        "a hang beyond the time limit",
    ),
    "Trials": (
        "told twice",
        "unknown id",
        "tell after failure or an expired lease",
        "attached out of bounds",
        "attached with NaN",
        "attached with missing, extra or ill-typed parameters",
        "duplicate points with different y",
        "ask 0, −1, more than the space holds",
        "ask on an exhausted discrete space",
    ),
    "Space and data": (
        "lo ≥ hi",
        "NaN or inf bounds",
        "log scale with lo ≤ 0",
        "names that are duplicate, empty, unicode, quoted, HTML, 200 characters",
        "empty, repeated, mixed-type or 10,000 choices",
        "contradictory constraints",
        "expressions with code, power towers, unknown names",
        "a changed space on resume",
        "DataFrames with NaN, wrong dtype, shuffled, missing or duplicate columns, "
        "0 rows",
        "scales from 1e-300 to 1e300",
    ),
    "Storage and environment": (
        "kill during ask, tell, report, migration",
        "disk full",
        "read-only",
        "the path is a folder, has no parent, is a link loop",
        "a truncated, zeroed, empty, foreign or bit-flipped file",
        "newer and older schema",
        "writers and a reader at once",
        "stale lease",
        "clock an hour back",
        "lock errors (network file system) → refused with advice",
        "fork after import",
        "a pickled study handle",
        "unknown command",
        "bad JSON on stdin",
        "closed pipe",
        "no terminal",
        "NO_COLOR",
        "ASCII locale",
    ),
}
"""What must be tried, in the words of the design."""

SHELL = ITEMS["Storage and environment"][-6:]
"""What only a command line meets."""

ROWS: list[Row] = [*values.TELLS, *trials.ROWS, *spaces.ROWS, *storage.ROWS]
SERVED: list[Served] = [
    *values.SERVED,
    *trials.SERVED,
    *spaces.SERVED,
    *storage.SERVED,
]

__all__ = ["ITEMS", "ROWS", "SERVED", "SHELL", "Bench", "Row", "Served"]
