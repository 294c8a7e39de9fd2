"""The subcommand ``failures``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``failures`` to the command line."""
    parser = commands.add_parser(
        "failures", help="optimisation where a part of the box fails"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--regions", help="names joined by commas; all by default")
    parser.add_argument("--methods", help="names joined by commas; all by default")
    add_run_options(parser, "failures")
    parser.set_defaults(run=_failures)


def _failures(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.failures.run import METHODS, REGIONS, FailureRun, summary
    from benchmarks.tasks import read_records, run_tasks

    runs = [
        FailureRun(region, method, seed)
        for seed in range(arguments.seeds)
        for region in chosen(arguments.regions, REGIONS, "region")
        for method in chosen(arguments.methods, METHODS, "method")
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
