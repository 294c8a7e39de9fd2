from __future__ import annotations

import time
from pathlib import Path

import pytest

from bokern.cli import demo

pytestmark = pytest.mark.integration


def test_short_demo_runs_to_the_report(
    bokern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "UNIVARIATE", ("RBF()", "Linear()"))
    code, out, _ = bokern("demo", "--out", tmp_path / "new", "--trials", "7")
    assert code == 0
    page = tmp_path / "new" / "report.html"
    assert f"Report written to {page}" in out
    assert "144 months" in out
    assert page.stat().st_size < 6e6
    text = page.read_text(encoding="utf-8")
    assert "in 7 trials" in text


def test_an_impossible_folder_is_refused_before_the_work(
    bokern, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = bokern("demo", "--out", tmp_path / "file")
    assert (code, out) == (2, "")
    assert "folder that can be made" in err


@pytest.mark.slow
def test_whole_demo_takes_less_than_two_minutes(process, tmp_path: Path) -> None:
    started = time.perf_counter()
    done = process("-m", "bokern", "demo", "--out", str(tmp_path))
    assert done.returncode == 0
    assert time.perf_counter() - started < 120
    assert done.stderr == ""
    assert "RBF()" in done.stdout
    assert (tmp_path / "report.html").exists()
