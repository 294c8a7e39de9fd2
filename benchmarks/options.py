"""Options that every benchmark has."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_run_options(
    parser: argparse.ArgumentParser, name: str, unit: str = "seed"
) -> None:
    """Adds ``--jobs``, ``--minutes`` and ``--out``.

    Args:
        parser: Of a subcommand.
        name: Of its results file, without the ending.
        unit: What is begun together.
    """
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--minutes", type=float, help=f"begin no {unit} after this; all by default"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results") / f"{name}.jsonl",
        help="results, a line each; what it holds is not run again",
    )
