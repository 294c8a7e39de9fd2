"""The subcommand ``surrogates``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``surrogates`` to the command line."""
    parser = commands.add_parser(
        "surrogates", help="errors and densities of a function from 10 to 60 points"
    )
    parser.add_argument("--functions", help="names joined by commas; all by default")
    parser.add_argument("--methods", help="names joined by commas; all by default")
    parser.add_argument("--sizes", help="numbers joined by commas; all by default")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    add_run_options(parser, "surrogates")
    parser.set_defaults(run=_surrogates)


def _surrogates(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.surrogates.data import FUNCTIONS
    from benchmarks.surrogates.methods import METHODS
    from benchmarks.surrogates.run import SurrogateRun
    from benchmarks.surrogates.summary import summary
    from benchmarks.tasks import read_records, run_tasks

    names = chosen(arguments.functions, FUNCTIONS, "function")
    methods = chosen(arguments.methods, METHODS, "method")
    sizes = {n for name in names for n in FUNCTIONS[name].sizes}
    wanted = chosen(arguments.sizes, [str(n) for n in sorted(sizes)], "size")
    first = arguments.first_seed
    runs = [
        SurrogateRun(name, method, n, seed)
        for seed in range(first, first + arguments.seeds)
        for name in names
        for n in FUNCTIONS[name].sizes
        if str(n) in wanted
        for method in methods
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
