"""The subcommand ``timeseries``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``timeseries`` to the command line."""
    parser = commands.add_parser(
        "timeseries", help="errors on thirteen series beside published ones"
    )
    parser.add_argument("--series", help="names joined by commas; all by default")
    parser.add_argument("--tasks", help="extrapolation, interpolation or both")
    parser.add_argument("--methods", help="names joined by commas; all by default")
    parser.add_argument("--seeds", type=int, default=1)
    add_run_options(parser, "timeseries")
    parser.set_defaults(run=_timeseries)


def _timeseries(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.data import missing
    from benchmarks.tasks import read_records, run_tasks
    from benchmarks.timeseries.methods import METHODS
    from benchmarks.timeseries.run import SeriesRun
    from benchmarks.timeseries.series import FILE, NAMES, TASKS
    from benchmarks.timeseries.summary import summary

    reason = missing([FILE])
    if reason:
        print(f"skipped: {reason}")
        return
    runs = [
        SeriesRun(series, task, method, seed)
        for seed in range(arguments.seeds)
        for task in chosen(arguments.tasks, TASKS, "task")
        for series in chosen(arguments.series, NAMES, "series")
        for method in chosen(arguments.methods, METHODS, "method")
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
