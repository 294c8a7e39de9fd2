"""Tutorials run from top to bottom, and the figures that they show are there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tutorials"
TUTORIALS = sorted(FOLDER.glob("[0-9]_*.py"))
LARGEST = 200_000
"""Bytes of a figure."""

EXPECTED = re.compile(r"^\[INFO [^\]]+\] ax\.")
"""What other people's code may say on the way."""

pytestmark = pytest.mark.tutorial

each = pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)


def figures_of(path: Path) -> set[str]:
    """Names of the figures that a tutorial shows."""
    return set(re.findall(r"\]\(figures/([^)]+)\)", path.read_text("utf-8")))


def stamps() -> dict[str, int]:
    return {f.name: f.stat().st_mtime_ns for f in (FOLDER / "figures").iterdir()}


@each
def test_runs_without_a_warning(path: Path, tmp_path: Path) -> None:
    before = stamps()
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env={
            **os.environ,
            "SMOKE_TEST": "1",
            "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if not EXPECTED.match(line)]
    assert said == []
    assert done.stdout
    assert stamps() == before


@each
def test_figures_are_there_and_small(path: Path) -> None:
    names = figures_of(path)
    assert names
    for name in names:
        assert 0 < (FOLDER / "figures" / name).stat().st_size <= LARGEST, name


@each
def test_begins_with_a_title_and_is_listed(path: Path) -> None:
    first, second = path.read_text("utf-8").splitlines()[:2]
    assert first == "# %% [markdown]"
    assert second.startswith("# # ")
    assert f"({path.name})" in (FOLDER / "README.md").read_text("utf-8")


def test_no_figure_is_left_over() -> None:
    shown = set().union(*map(figures_of, TUTORIALS))
    assert {f.name for f in (FOLDER / "figures").iterdir()} == shown
