"""What can be typed after ``bokern``; imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import metadata
from typing import NoReturn

from bokern.cli import texts
from bokern.cli.kinds import from_one, from_zero, interval, positive_seconds

__all__ = ["parse", "parser"]


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
        description=texts.DESCRIPTION,
        epilog=texts.EXAMPLES,
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

    _add_demo(command("demo", texts.DEMO, texts.DEMO_EXAMPLES))
    search = command("search", texts.SEARCH, texts.SEARCH_EXAMPLES)
    _add_table(search, "structures to choose from (default: a grammar of them)")
    _add_search(search)
    compare = command("compare", texts.COMPARE, texts.COMPARE_EXAMPLES)
    _add_table(
        compare, "what to compare (default: a list that suits the number of columns)"
    )
    structures = command(
        "structures", texts.STRUCTURES, "example:\n  bokern structures\n"
    )
    structures.add_argument(
        "--json", action="store_true", help="print the list as JSON"
    )
    return top


def _add_demo(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--out",
        metavar="DIR",
        default="bokern-demo",
        help="folder of the report, made if needed (default: %(default)s)",
    )
    to.add_argument(
        "--trials",
        type=from_one,
        default=20,
        metavar="N",
        help="evaluations of the black box (default: %(default)s)",
    )
    _add_seed(to)


def _add_table(to: argparse.ArgumentParser, structures: str) -> None:
    """A table, what to model in it, and what to do with the comparison."""
    to.add_argument("file", metavar="FILE", help="the table, with a header")
    to.add_argument(
        "--target", required=True, metavar="COL", help="the column to model"
    )
    to.add_argument(
        "--features",
        nargs="+",
        metavar="COL",
        help="the input columns (default: all others)",
    )
    to.add_argument("--structures", nargs="+", metavar="TEXT", help=structures)
    to.add_argument(
        "--bounds",
        nargs="+",
        type=interval,
        metavar="COL=LO:HI",
        help="the declared range of a column (default: the range of the data)",
    )
    to.add_argument(
        "--noise",
        metavar="VARIANCE",
        help="known variance of the target, a number or a column (default: inferred)",
    )
    to.add_argument(
        "--no-standardize",
        dest="standardize",
        action="store_false",
        help="leave the target as it is, rather than z-score it",
    )
    to.add_argument("--report", metavar="FILE", help="write an HTML report")
    to.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_seed(to)


def _add_search(to: argparse.ArgumentParser) -> None:
    """How far a search goes, and where its work is done and kept."""
    to.add_argument(
        "--budget",
        metavar="N|TIME",
        help="likelihood evaluations, or a duration such as 90s or 5min",
    )
    to.add_argument(
        "--rounds",
        type=from_zero,
        metavar="N",
        help="rounds of expansion, at most (default: 0 with --structures)",
    )
    to.add_argument(
        "--smc",
        default="auto",
        action=argparse.BooleanOptionalAction,
        help="sample the evidence of finalists, up to 150 rows, or leave it as "
        "Laplace's method gives it (default: sample where it takes seconds)",
    )
    to.add_argument(
        "--outcome",
        default="identity",
        metavar="TEXT",
        help="transform of the target: identity, log, yeo-johnson, or auto to choose "
        "one by evidence (default: %(default)s)",
    )
    to.add_argument(
        "--workers",
        type=from_one,
        default=1,
        metavar="N",
        help="processes; the result does not depend on it (default: %(default)s)",
    )
    to.add_argument(
        "--journal",
        metavar="FILE",
        help="keep finished work in a file, and go on from what is in it",
    )
    to.add_argument(
        "--time-limit",
        type=positive_seconds,
        metavar="SECONDS",
        help="leave out a structure that takes longer for a step",
    )


def _add_seed(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--seed",
        type=from_zero,
        default=0,
        metavar="N",
        help="of everything random (default: %(default)s)",
    )


def _version() -> str:
    try:
        return metadata.version("bokern")
    except metadata.PackageNotFoundError:
        return "(not installed as a package)"
