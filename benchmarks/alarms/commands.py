"""The subcommand ``alarms``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``alarms`` to the command line."""
    parser = commands.add_parser(
        "alarms", help="are symmetries or warps claimed of functions without any?"
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--designs", help="optimised, random or both (default)")
    add_run_options(parser, "alarms")
    parser.set_defaults(run=_alarms)


def _alarms(arguments: argparse.Namespace) -> None:
    from benchmarks.alarms.run import DESIGNS, AlarmRun
    from benchmarks.alarms.summary import summary
    from benchmarks.chosen import chosen
    from benchmarks.tasks import read_records, run_tasks

    designs = chosen(arguments.designs, DESIGNS, "design")
    runs = [
        AlarmRun(design, seed) for seed in range(arguments.seeds) for design in designs
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
