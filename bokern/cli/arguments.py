"""What can be typed after ``bokern``; imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import NoReturn

from bokern.cli import texts
from bokern.cli.kinds import from_one, from_zero, interval, positive_seconds, trial

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

    def command(
        name: str, description: str, epilog: str, home: str = "", action: str = "run"
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
            allow_abbrev=False,
        )
        added.set_defaults(module=f"bokern.cli.{home or name}", action=action)
        return added

    _add_demo(command("demo", texts.DEMO, texts.DEMO_EXAMPLES))
    _add_studies(command)
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


def _add_studies(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Commands on studies."""
    optimize = command("optimize", texts.OPTIMIZE, texts.OPTIMIZE_EXAMPLES)
    _add_configuration(optimize)
    optimize.add_argument(
        "--resume", action="store_true", help="go on with a study that exists"
    )
    optimize.add_argument(
        "--parallel",
        type=from_one,
        default=1,
        metavar="N",
        help="evaluations at a time (default: %(default)s)",
    )
    optimize.add_argument(
        "--budget",
        type=from_one,
        metavar="N",
        help="trials in all (default: as the configuration says)",
    )
    optimize.add_argument("--report", metavar="FILE", help="write an HTML report")
    _add_configuration(command("new", texts.NEW, "", "optimize", "new"))
    ask = command("ask", texts.ASK, texts.ASK_EXAMPLES, "asking", "ask")
    _add_study(ask)
    ask.add_argument(
        "--count",
        type=from_one,
        default=1,
        metavar="N",
        help="trials to ask for (default: %(default)s)",
    )
    ask.add_argument(
        "--lease",
        type=positive_seconds,
        metavar="SECONDS",
        help="hand a trial out again if it was not told by then",
    )
    tell = command("tell", texts.TELL, texts.TELL_EXAMPLES, "asking", "tell")
    _add_study(tell)
    tell.add_argument(
        "trial",
        metavar="TRIAL",
        type=trial,
        help="its number, or the parameters of a new one as JSON",
    )
    tell.add_argument(
        "value",
        metavar="VALUE",
        nargs="?",
        help="a number, or numbers by outcome as JSON",
    )
    tell.add_argument(
        "--sem", metavar="VALUE", help="standard error of the value (0: no noise)"
    )
    tell.add_argument("--failed", metavar="REASON", help="it failed: why")
    for name, text in (
        ("status", texts.STATUS),
        ("best", texts.BEST),
        ("leaderboard", texts.LEADERBOARD),
    ):
        _add_study(command(name, text, "", "showing", name))
    report = command("report", texts.REPORT, "", "showing", "report")
    _add_study(report)
    report.add_argument("out", metavar="FILE", help="the page to write")
    export = command("export", texts.EXPORT, texts.EXPORT_EXAMPLES, "moving", "export")
    _add_study(export)
    export.add_argument("file", metavar="FILE", help="the file to write")
    export.add_argument(
        "--form",
        choices=("csv", "json", "ax"),
        help="CSV, JSON, or a snapshot for Ax (default: by the file's ending)",
    )
    bring = command("import", texts.IMPORT, texts.IMPORT_EXAMPLES, "moving", "bring")
    _add_study(bring)
    bring.add_argument("file", metavar="FILE", help="the table, with a header")
    check = command("check", texts.CHECK, texts.CHECK_EXAMPLES, "moving", "check")
    _add_study(check)
    check.add_argument(
        "--repair", metavar="COPY", help="write all that is intact into a new file"
    )


def _add_configuration(to: argparse.ArgumentParser) -> None:
    to.add_argument("config", metavar="CONFIG", help="the study, as YAML")
    to.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_study(to: argparse.ArgumentParser) -> None:
    to.add_argument("study", metavar="STUDY", help="its file, or the URL of a database")
    to.add_argument(
        "--name",
        default="study",
        help="of the study, where a database holds several (default: %(default)s)",
    )
    to.add_argument("--json", action="store_true", help="print the result as JSON")


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
