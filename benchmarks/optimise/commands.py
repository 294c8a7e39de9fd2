"""The subcommands ``optimise`` and ``report``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.options import add_run_options

OUT = Path("results/optimise.jsonl")


def add_commands(commands: Any) -> None:
    """Adds ``optimise`` and ``report`` to the command line."""
    optimise = commands.add_parser(
        "optimise", help="run optimisers over seeds; resumes where it stopped"
    )
    optimise.add_argument("--suite", default="small", help="small or full")
    optimise.add_argument("--methods", help="names joined by commas")
    optimise.add_argument("--objectives", help="names joined by commas")
    optimise.add_argument("--seeds", type=int, default=20)
    optimise.add_argument("--first-seed", type=int, default=0)
    add_run_options(optimise, "optimise")
    optimise.set_defaults(run=_optimise)

    report = commands.add_parser("report", help="table and curves of a results file")
    report.add_argument("results", type=Path, nargs="?", default=OUT)
    report.add_argument("--markdown", type=Path, help="write the table here")
    report.add_argument("--html", type=Path, help="write the curves here")
    report.set_defaults(run=_report)


def _optimise(arguments: argparse.Namespace) -> None:
    from benchmarks.optimise.objectives import OBJECTIVES, SUITES
    from benchmarks.optimise.run import DEFAULT_METHODS, METHODS, Run
    from benchmarks.tasks import run_tasks

    suite = _chosen(arguments.suite, SUITES, "suite")
    objectives = (
        _chosen(arguments.objectives, OBJECTIVES, "objective")
        if arguments.objectives
        else SUITES[suite[0]]
    )
    named = _chosen(arguments.methods, METHODS, "method") if arguments.methods else None
    first = arguments.first_seed
    runs = [
        Run(objective, method, seed)
        for seed in range(first, first + arguments.seeds)
        for objective in objectives
        for method in named or OBJECTIVES[objective].methods or DEFAULT_METHODS
    ]
    obstacles = {run: run.obstacle for run in runs if run.applies}
    for line in _skipped(obstacles):
        print(line)
    tasks = [run for run, obstacle in obstacles.items() if obstacle is None]
    run_tasks(tasks, arguments.out, arguments.jobs, arguments.minutes)
    _report(argparse.Namespace(results=arguments.out, markdown=None, html=None))


def _report(arguments: argparse.Namespace) -> None:
    from benchmarks.optimise.report import html, markdown
    from benchmarks.tasks import read_records

    records = read_records(arguments.results)
    if not records:
        raise SystemExit(f"no records in {arguments.results}: run `optimise` first")
    table = markdown(records)
    print(table)
    if arguments.markdown:
        arguments.markdown.write_text(table + "\n")
    if arguments.html:
        arguments.html.write_text(html(records))
        print(f"\nwrote {arguments.html}")


def _skipped(obstacles: Mapping[Any, str | None]) -> list[str]:
    """A line for each reason for which runs are skipped."""
    counts = Counter(reason for reason in obstacles.values() if reason is not None)
    return [f"skipped {count} runs: {reason}" for reason, count in counts.items()]


def _chosen(text: str, allowed: Any, what: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in allowed]
    if unknown:
        raise SystemExit(
            f"unknown {what} {', '.join(unknown)}: expected {', '.join(allowed)}"
        )
    return names
