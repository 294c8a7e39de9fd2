"""``bokern new`` and ``bokern optimize``: begin a study, and run it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch

from bokern.cli.configuration import Configuration, read_configuration
from bokern.cli.output import Output
from bokern.cli.paths import writable_file
from bokern.cli.shell import ShellCommand
from bokern.errors import InputError
from bokern.optimize import Study
from bokern.optimize.evaluators import InThreads
from bokern.reporting import report

__all__ = ["new", "run"]


def new(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Begin the study of a configuration; trials are asked for one by one.

    Args:
        arguments: ``config, json``.
        out: Where it is said.
        err: Not used.

    Returns:
        The exit code.
    """
    configuration = read_configuration(arguments.config)
    _check_new(configuration)
    study = _open(configuration)
    if arguments.json:
        document = {"study": configuration.place, "space": study.problem.to_json()}
        out.line(json.dumps(document))
    else:
        out.line(f"{study!r}\nbokern ask {configuration.place}")
    return 0


def run(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Evaluate the trials of a configuration until its budget is spent.

    Args:
        arguments: ``config, resume, parallel, budget, report, json``.
        out: Where the result goes.
        err: Where progress is shown on a terminal.

    Returns:
        The exit code.
    """
    torch.set_num_threads(1)  # matrices this small only lose time to threads
    configuration = read_configuration(arguments.config)
    budget = arguments.budget or configuration.budget
    if budget is None:
        raise InputError(
            "expected a number of trials: write 'budget: 50' into the configuration, "
            "or pass --budget"
        )
    page = writable_file(arguments.report) if arguments.report else None
    black_box = configuration.black_box()
    if not arguments.resume:
        _check_new(configuration)
    study = _open(configuration)
    evaluator = None
    time_limit = configuration.time_limit
    if isinstance(black_box, ShellCommand):
        # A command is a process by itself, and is stopped by itself.
        evaluator, time_limit = InThreads, None
    try:
        found = study.run(
            black_box,
            budget,
            parallel=arguments.parallel,
            time_limit=time_limit,
            evaluator=evaluator,
        )
    except KeyboardInterrupt:
        err.line(
            f"bokern: {len(study.trials)} trials are kept in {configuration.place}; "
            f"'bokern optimize {arguments.config} --resume' goes on"
        )
        raise
    if page is not None:
        page = report(found, path=page, title=f"Study {Path(configuration.place).stem}")
    out.line(found.to_json() if arguments.json else str(found))
    if page is not None:
        err.line(f"report written to {page}")
    return 0 if found.pareto else 1


def _open(configuration: Configuration) -> Study:
    return Study(configuration.place, configuration.space, **configuration.options)


def _check_new(configuration: Configuration) -> None:
    place = configuration.place
    if "://" not in place and os.path.exists(place):
        raise InputError(
            f"the study '{place}' exists: go on with it by 'bokern optimize --resume', "
            "or name another file as 'study' in the configuration"
        )
