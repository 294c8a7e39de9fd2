"""The subcommand ``toys``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``toys`` to the command line."""
    parser = commands.add_parser(
        "toys", help="steps, chirps and both from 200 noisy points"
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--functions", help="names joined by commas; all by default")
    parser.add_argument("--methods", help="names joined by commas; see README")
    add_run_options(parser, "toys")
    parser.set_defaults(run=_toys)


def _toys(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.tasks import read_records, run_tasks
    from benchmarks.toys.functions import FUNCTIONS
    from benchmarks.toys.run import COMPARED, ToyRun
    from benchmarks.toys.summary import summary
    from benchmarks.uci.methods import METHODS

    methods = chosen(arguments.methods or ",".join(COMPARED), METHODS, "method")
    runs = [
        ToyRun(name, method, seed)
        for seed in range(arguments.seeds)
        for name in chosen(arguments.functions, FUNCTIONS, "function")
        for method in methods
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
