from __future__ import annotations

import json
from pathlib import Path

import pytest

from bokern.selection import Comparison

pytestmark = pytest.mark.integration

TWO = ("--structures", "RBF()", "Linear()")


def test_ranks_and_writes_the_report(bokern, table: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    code, out, err = bokern("compare", table, "--target", "y", *TWO, "--report", page)
    assert code == 0
    assert "RBF()" in out
    assert "Linear()" in out
    assert err == f"report written to {page}\n"
    text = page.read_text(encoding="utf-8")
    assert "Comparison: y" in text
    assert "x1" in text


def test_json_is_all_that_stdout_holds(bokern, table: Path) -> None:
    code, out, err = bokern("compare", table, "--target", "y", *TWO, "--json")
    assert (code, err) == (0, "")
    assert isinstance(json.loads(out), dict)


def test_the_same_seed_gives_the_same_ranking(bokern, table: Path) -> None:
    tables = []
    for _ in range(2):
        arguments = ("--target", "y", *TWO, "--json", "--seed", "3")
        _, out, _ = bokern("compare", table, *arguments)
        tables.append(Comparison.from_json(out).table)
    first, second = tables
    assert first["structure"].tolist() == second["structure"].tolist()
    assert first["log_evidence"].tolist() == pytest.approx(
        second["log_evidence"].tolist(), abs=1e-9
    )


def test_bounds_are_completed_by_the_data(bokern, table: Path) -> None:
    arguments = ("--target", "y", *TWO, "--json", "--bounds", "x2=-1:9")
    _, out, _ = bokern("compare", table, *arguments)
    bounds = Comparison.from_json(out).bounds.T.tolist()
    assert bounds == [[0.0, 1.1], [-1.0, 9.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "z"], "expected target column among ['x1', 'x2', 'y'], got 'z'"),
        (["--target", "y", "--features", "q"], "expected feature columns among"),
        (["--target", "y", "--bounds", "q=0:1"], "--bounds once for features among"),
        (["--target", "y", "--bounds", "x1=0:1", "x1=0:2"], "--bounds once"),
        (["--target", "y", "--bounds", "x1=5:6"], "x1"),
        (["--target", "y", "--structures", "Mattern(2.5)"], "Mattern"),
        (["--target", "y", "--structures", "RBF(columns=['q'])"], "q"),
        (["--target", "y", "--structures", "Invariant(RBF(), swap(0, 1))"], "bounds"),
        (["--target", "y", "--report", "/none/r.html"], "there is no folder '/none'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    bokern, table: Path, arguments: list[str], message: str
) -> None:
    code, out, err = bokern("compare", table, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("bokern: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_an_unreadable_file_is_one_line_and_code_2(bokern, tmp_path: Path) -> None:
    code, out, err = bokern("compare", tmp_path / "none.csv", "--target", "y")
    assert (code, out) == (2, "")
    assert err.startswith("bokern: error: expected a readable CSV")
    assert err.count("\n") == 1


def test_data_that_the_core_refuses_is_one_line(bokern, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n2,2\n3,2\n")
    code, _, err = bokern("compare", path, "--target", "y", *TWO)
    assert code == 2
    assert err.startswith("bokern: error: ")
    assert err.count("\n") == 1
