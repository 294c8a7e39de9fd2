"""The subcommand ``regression``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``regression`` to the command line."""
    parser = commands.add_parser(
        "regression", help="test log density and errors on measured data"
    )
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--data", help="names joined by commas; all by default")
    parser.add_argument("--methods", help="names joined by commas; all by default")
    add_run_options(parser, "regression", "split")
    parser.set_defaults(run=_regression)


def _regression(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.data import missing
    from benchmarks.regression.methods import METHODS
    from benchmarks.regression.run import RegressionRun
    from benchmarks.regression.splits import FILES
    from benchmarks.regression.summary import summary
    from benchmarks.tasks import read_records, run_tasks

    names = chosen(arguments.data, FILES, "data set")
    reason = missing([FILES[name] for name in names])
    if reason:
        print(f"skipped: {reason}")
        return
    runs = [
        RegressionRun(name, method, seed)
        for seed in range(arguments.splits)
        for name in names
        for method in chosen(arguments.methods, METHODS, "method")
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
