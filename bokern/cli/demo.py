"""``bokern demo``: real data, a black box and a report in under two minutes."""

from __future__ import annotations

import argparse
import time

import torch

from bokern.cli.candidates import UNIVARIATE
from bokern.cli.output import Output
from bokern.cli.paths import new_folder
from bokern.cli.tables import features_and_target, read_table
from bokern.data import airline_path
from bokern.optimize import minimize
from bokern.problems import GramacyLee
from bokern.reporting import report
from bokern.selection import compare
from bokern.structures import parse

__all__ = ["run"]

FEATURE = "decimal_year"
TARGET = "passengers_thousands"
TITLE = "bokern demo: airline passengers and the Gramacy–Lee function"


def run(arguments: argparse.Namespace, out: Output, err: Output) -> int:
    """Compare structures on the airline data, minimise Gramacy–Lee, write a report.

    Args:
        arguments: ``out, trials, seed``.
        out: Where the results go.
        err: Not used.

    Returns:
        The exit code.
    """
    started = time.perf_counter()
    torch.set_num_threads(1)  # matrices this small only lose time to threads
    folder = new_folder(arguments.out)
    table = read_table(str(airline_path()))
    X, y = features_and_target(table, TARGET, [FEATURE])
    out.line(
        f"1. Which structure do {len(y)} months of airline passengers support? "
        f"({FEATURE} -> {TARGET})"
    )
    found = compare([parse(text) for text in UNIVARIATE], X, y, seed=arguments.seed)
    out.line(f"\n{found}\n")
    problem = GramacyLee()
    (interval,) = problem.bounds
    out.line(
        f"2. Minimise the Gramacy-Lee function on [{interval[0]:g}, {interval[1]:g}] "
        f"in {arguments.trials} trials (the structure is chosen as the data grow)."
    )
    result = minimize(
        problem,
        problem.space,
        arguments.trials,
        seed=arguments.seed,
        optimum=problem.optimum,
    )
    out.line(f"\n{result}\n")
    page = report(found, result, path=folder / "report.html", title=TITLE)
    out.line(f"Report written to {page} ({time.perf_counter() - started:.0f} s).")
    return 0
