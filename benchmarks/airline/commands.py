"""The subcommand ``airline``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``airline`` to the command line."""
    parser = commands.add_parser(
        "airline", help="is the best optimum of one structure found from every seed?"
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", help="search, fit, fit-ml; all by default")
    add_run_options(parser, "airline")
    parser.set_defaults(run=_airline)


def _airline(arguments: argparse.Namespace) -> None:
    from benchmarks.airline.run import METHODS, SCALES, AirlineRun
    from benchmarks.airline.summary import summary
    from benchmarks.chosen import chosen
    from benchmarks.tasks import read_records, run_tasks

    methods = chosen(arguments.methods, METHODS, "method")
    runs = [
        AirlineRun(method, scale, seed)
        for seed in range(arguments.seeds)
        for scale in SCALES
        for method in methods
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
