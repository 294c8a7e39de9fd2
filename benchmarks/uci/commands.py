"""The subcommand ``uci``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``uci`` to the command line."""
    parser = commands.add_parser(
        "uci", help="warped, sparse and deep kernels on thirteen tables and splits"
    )
    parser.add_argument("--seeds", type=int, default=3, help="1 for large tables")
    parser.add_argument("--data", help="names joined by commas; all by default")
    parser.add_argument("--methods", help="names joined by commas; all by default")
    add_run_options(parser, "uci")
    parser.set_defaults(run=_uci)


def _uci(arguments: argparse.Namespace) -> None:
    from benchmarks.chosen import chosen
    from benchmarks.data import missing
    from benchmarks.tasks import read_records, run_tasks
    from benchmarks.uci.methods import METHODS
    from benchmarks.uci.run import UCIRun
    from benchmarks.uci.sources import SOURCES
    from benchmarks.uci.splits import seeds_of
    from benchmarks.uci.summary import summary

    names = chosen(arguments.data, SOURCES, "data set")
    methods = chosen(arguments.methods, METHODS, "method")
    reason = missing([SOURCES[name].file for name in names])
    if reason:
        print(f"skipped: {reason}")
        return
    runs = [
        UCIRun(name, method, seed)
        for seed in range(arguments.seeds)
        for name in names
        if seed in seeds_of(name, arguments.seeds)
        for method in methods
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
