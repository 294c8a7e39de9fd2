"""The subcommand ``identify``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``identify`` to the command line."""
    parser = commands.add_parser(
        "identify", help="is the structure that made the data found among seven?"
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--points", type=int, nargs="+", default=[40, 80])
    parser.add_argument("--truths", help="names joined by commas; all by default")
    parser.add_argument("--method", choices=("search", "compare"), default="search")
    add_run_options(parser, "identify")
    parser.add_argument(
        "--separation",
        action="store_true",
        help="print instead how far apart the truths are in principle",
    )
    parser.set_defaults(run=_identify)


def _identify(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.identify.run import IdentifyRun
    from benchmarks.identify.separation import separation_table
    from benchmarks.identify.summary import summary
    from benchmarks.identify.truths import FAMILIES
    from benchmarks.tasks import read_records, run_tasks

    if arguments.separation:
        for n in arguments.points:
            print(separation_table(n, arguments.seeds) + "\n")
        return
    truths = chosen(arguments.truths, FAMILIES, "truth")
    runs = [
        IdentifyRun(truth, n, seed, arguments.method)
        for seed in range(arguments.seeds)
        for n in arguments.points
        for truth in truths
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
