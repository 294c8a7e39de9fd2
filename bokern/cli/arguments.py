"""What can be typed after ``bokern``; imports nothing heavy."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from importlib import metadata
from typing import NoReturn

__all__ = ["parse", "parser"]

_DESCRIPTION = """\
Bayesian optimisation with Gaussian-process structures selected by their evidence.

commands:
  demo         real data and a black box in under two minutes, with a report
  compare      rank structures on a table of your own
  structures   what structures there are, a line each
"""

_EXAMPLES = """\
examples:
  bokern demo
  bokern compare data.csv --target y --report report.html
  bokern compare data.csv --target y --structures "RBF()" "Matern(2.5) + Linear()"
  bokern structures

exit codes: 0 done, 1 failed, 2 bad usage or input, 130 interrupted.
'bokern COMMAND --help' tells more about a command.
"""

_DEMO = """\
Ranks structures on the monthly airline passengers of 1949 to 1960 (144 points),
minimises the Gramacy-Lee function, and writes a report of both.
"""

_DEMO_EXAMPLES = """\
examples:
  bokern demo
  bokern demo --out results --trials 30 --seed 1
"""

_COMPARE = """\
Fits each structure to the columns of a table (CSV, TSV or CSV.gz with a header),
ranks them by their log evidence, and says how strong the preference is.
"""

_COMPARE_EXAMPLES = """\
examples:
  bokern compare data.csv --target y
  bokern compare data.csv --target y --features x1 x2 --bounds x1=0:1 x2=-5:5
  bokern compare data.csv --target y --structures "RBF()" "Kumaraswamy(Matern(2.5))"
  bokern compare data.csv.gz --target y --report report.html --json > found.json

FILE comes first, or before an option that takes one value. Without --bounds the
range of the data is the box in which the priors apply. 'bokern structures' lists
what --structures understands.
"""

_STRUCTURES = """\
Lists the structures: an example that --structures understands, the family, a line.
'+' adds independent functions, '*' multiplies kernels.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"bokern: error: {message} (see '{self.prog} --help')\n")


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read a command line.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        The arguments, with the ``module`` that runs the command.

    Raises:
        SystemExit: After help or version (0), or an error (2).
    """
    # The flag is declared on two levels, so its default stands on neither.
    return parser().parse_args(argv, argparse.Namespace(debug=False))


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    common = _Parser(add_help=False)
    common.add_argument(
        "--debug",
        action="store_true",
        default=argparse.SUPPRESS,
        help="show the traceback of an error",
    )
    top = _Parser(
        prog="bokern",
        usage="bokern [--version] [--help] COMMAND ...",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"bokern {_version()}")
    commands = top.add_subparsers(
        prog="bokern",
        dest="command",
        required=True,
        metavar="COMMAND",
        help=argparse.SUPPRESS,
    )

    def command(name: str, description: str, epilog: str) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
            allow_abbrev=False,
        )
        added.set_defaults(module=f"bokern.cli.{name}")
        return added

    demo = command("demo", _DEMO, _DEMO_EXAMPLES)
    demo.add_argument(
        "--out",
        metavar="DIR",
        default="bokern-demo",
        help="folder of the report, made if needed (default: %(default)s)",
    )
    demo.add_argument(
        "--trials",
        type=_positive,
        default=20,
        metavar="N",
        help="evaluations of the black box (default: %(default)s)",
    )
    _add_seed(demo)

    compare = command("compare", _COMPARE, _COMPARE_EXAMPLES)
    compare.add_argument("file", metavar="FILE", help="the table, with a header")
    compare.add_argument(
        "--target", required=True, metavar="COL", help="the column to model"
    )
    compare.add_argument(
        "--features",
        nargs="+",
        metavar="COL",
        help="the input columns (default: all but the target)",
    )
    compare.add_argument(
        "--structures",
        nargs="+",
        metavar="TEXT",
        help="what to compare (default: a list that suits the number of columns)",
    )
    compare.add_argument(
        "--bounds",
        nargs="+",
        type=_interval,
        metavar="COL=LO:HI",
        help="the declared range of a column (default: the range of the data)",
    )
    compare.add_argument("--report", metavar="FILE", help="write an HTML report")
    compare.add_argument(
        "--json", action="store_true", help="print the comparison as JSON"
    )
    _add_seed(compare)

    structures = command("structures", _STRUCTURES, "example:\n  bokern structures\n")
    structures.add_argument(
        "--json", action="store_true", help="print the list as JSON"
    )
    return top


def _add_seed(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--seed",
        type=_seed,
        default=0,
        metavar="N",
        help="of everything random (default: %(default)s)",
    )


def _version() -> str:
    try:
        return metadata.version("bokern")
    except metadata.PackageNotFoundError:
        return "(not installed as a package)"


def _whole(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least {least}, got '{text}'"
        )
    return value


def _positive(text: str) -> int:
    return _whole(text, 1)


def _seed(text: str) -> int:
    return _whole(text, 0)


def _interval(text: str) -> tuple[str, tuple[float, float]]:
    """``COL=LO:HI`` as the column and its range."""
    column, _, ends = text.rpartition("=")
    low, _, high = ends.partition(":")
    try:
        interval = float(low), float(high)
    except ValueError:
        interval = math.nan, math.nan
    if (
        not column
        or not all(map(math.isfinite, interval))
        or interval[0] >= interval[1]
    ):
        raise argparse.ArgumentTypeError(
            f"expected COLUMN=LOW:HIGH with LOW below HIGH, as in x1=0:1, got '{text}'"
        )
    return column, interval
