"""The subcommand ``evidence``."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.options import add_run_options


def add_commands(commands: Any) -> None:
    """Adds ``evidence`` to the command line."""
    parser = commands.add_parser(
        "evidence", help="studies of the evidence on data of known structure"
    )
    parser.add_argument(
        "--studies", help="names joined by commas; all but the long ones by default"
    )
    parser.add_argument("--seeds", type=int, help="of each study; its own by default")
    add_run_options(parser, "evidence")
    parser.set_defaults(run=_evidence)


def _evidence(arguments: argparse.Namespace) -> None:
    from benchmarks.evidence.studies import STUDIES, StudyRun
    from benchmarks.evidence.summary import summary
    from benchmarks.tasks import read_records, run_tasks

    short = [name for name, study in STUDIES.items() if not study.is_long]
    names = arguments.studies.split(",") if arguments.studies else short
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        raise SystemExit(
            f"unknown study {', '.join(unknown)}: expected {', '.join(STUDIES)}"
        )
    wanted = {name: arguments.seeds or STUDIES[name].seeds for name in names}
    runs = [
        StudyRun(name, seed)
        for seed in range(max(wanted.values()))
        for name in names
        if seed < wanted[name]
    ]
    run_tasks(runs, arguments.out, arguments.jobs, arguments.minutes)
    print(summary(read_records(arguments.out)))
