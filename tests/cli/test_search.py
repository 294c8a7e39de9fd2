from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bokern.cli import search as command
from bokern.errors import InputError
from bokern.selection import Comparison, compare
from bokern.structures import parse

pytestmark = pytest.mark.integration


class Searched:
    """Stands in for the search: remembers its arguments, compares two structures."""

    def __init__(self) -> None:
        self.arguments: dict[str, Any] = {}

    def __call__(self, X, y, structures, **options: Any) -> Comparison:
        self.arguments = {"X": X, "y": y, "structures": structures, **options}
        return compare(["RBF()", "Linear()"], X, y, bounds=options["bounds"], starts=1)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Searched:
    fake = Searched()
    monkeypatch.setattr(command, "search", fake)
    return fake


def test_says_what_was_found_and_writes_the_report(
    bokern, searched: Searched, table: Path, tmp_path: Path
) -> None:
    page = tmp_path / "r.html"
    code, out, err = bokern("search", table, "--target", "y", "--report", page)
    assert (code, err) == (0, f"report written to {page}\n")
    assert "The data show" in out
    assert "of the variance" in out
    assert "The closest rival is" in out
    assert "What the evidence says" in page.read_text(encoding="utf-8")


def test_defaults_are_those_of_the_search(
    bokern, searched: Searched, table: Path
) -> None:
    assert bokern("search", table, "--target", "y")[0] == 0
    given = searched.arguments
    assert list(given.pop("X").columns) == ["x1", "x2"]
    assert given.pop("y").name == "y"
    assert given == {
        "structures": "auto",
        "bounds": None,
        "noise": None,
        "budget": None,
        "rounds": None,
        "smc": "auto",
        "outcome": "identity",
        "workers": 1,
        "journal": None,
        "time_limit": None,
        "seed": 0,
        "standardize": True,
    }


def test_options_reach_the_search(
    bokern, searched: Searched, table: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "j.jsonl"
    options = (
        "--features x1 --bounds x1=-1:2 --noise 0.5 --no-standardize --budget 5min "
        f"--rounds 2 --no-smc --outcome auto --workers 3 --journal {journal} "
        "--time-limit 2.5 --seed 7"
    )
    structures = ("--structures", "RBF()", "Linear(columns=['x1'])")
    code, _, _ = bokern("search", table, "--target", "y", *options.split(), *structures)
    assert code == 0
    given = searched.arguments
    assert list(given.pop("X").columns) == ["x1"]
    given.pop("y")
    assert given == {
        "structures": [parse("RBF()"), parse("Linear(columns=['x1'])")],
        "bounds": {"x1": (-1.0, 2.0)},
        "noise": 0.5,
        "budget": "5min",
        "rounds": 2,
        "smc": False,
        "outcome": "auto",
        "workers": 3,
        "journal": journal,
        "time_limit": 2.5,
        "seed": 7,
        "standardize": False,
    }


@pytest.mark.parametrize("name", ["search", "compare"])
def test_a_column_of_variances_is_no_input(
    bokern, searched: Searched, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "v.csv"
    rows = [f"{i / 10},{i % 3},{0.1 + i / 50}" for i in range(8)]
    path.write_text("x,y,variance\n" + "\n".join(rows) + "\n")
    arguments = ("--target", "y", "--noise", "variance", "--json")
    listed = ("--structures", "RBF()") if name == "compare" else ()
    code, out, _ = bokern(name, path, *arguments, *listed)
    assert code == 0
    assert Comparison.from_json(out).column_names == ("x",)
    if name == "compare":
        noise = Comparison.from_json(out).data.noise
        assert noise.tolist() == pytest.approx([0.1 + i / 50 for i in range(8)])
    else:
        assert isinstance(searched.arguments["noise"], pd.Series)


def test_json_is_all_that_stdout_holds(bokern, searched, table: Path) -> None:
    code, out, err = bokern("search", table, "--target", "y", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["kind"] == "bokern.Comparison"


def test_a_winner_that_cannot_be_taken_apart_is_still_reported(
    bokern, searched, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Comparison) -> None:
        raise InputError("too many rows")

    monkeypatch.setattr(Comparison, "explain", refused)
    code, out, _ = bokern("search", table, "--target", "y")
    assert code == 0
    assert "could not be taken apart: too many rows" in out


def test_an_interruption_says_where_the_work_is(
    bokern, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "search", interrupted)
    journal = tmp_path / "j.jsonl"
    arguments = ("search", table, "--target", "y")
    code, out, err = bokern(*arguments, "--journal", journal)
    assert (code, out) == (130, "")
    assert f"kept in {journal}" in err
    code, _, err = bokern(*arguments)
    assert (code, err) == (130, "bokern: interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "z"], "expected target column among ['x1', 'x2', 'y'], got 'z'"),
        (["--target", "y", "--structures", "Mattern(2.5)"], "Mattern"),
        (["--target", "y", "--budget", "soon"], "budget is expected"),
        (["--target", "y", "--budget", "-5"], "budget is expected"),
        (["--target", "y", "--outcome", "sqrt"], "outcome"),
        (["--target", "y", "--noise", "-1"], "expected --noise as a variance >= 0"),
        (["--target", "y", "--noise", "q"], "or a column among"),
        (["--target", "y", "--journal", "/none/j"], "there is no folder '/none'"),
        (["--target", "y", "--report", "/none/r.html"], "there is no folder '/none'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    bokern, table: Path, arguments: list[str], message: str
) -> None:
    code, out, err = bokern("search", table, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("bokern: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_real_search_of_a_short_list(bokern, table: Path, tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    arguments = (
        *("search", table, "--target", "y", "--features", "x1", "--no-smc", "--json"),
        *("--journal", journal, "--structures", "RBF()", "Linear()"),
    )
    code, first, err = bokern(*arguments)
    assert (code, err) == (0, "")
    found = Comparison.from_json(first)
    assert {attempt.structure for attempt in found.trace} == {"RBF()", "Linear()"}
    assert journal.stat().st_size > 0
    code, again, _ = bokern(*arguments)
    assert code == 0
    assert Comparison.from_json(again).table["log_evidence"].tolist() == (
        found.table["log_evidence"].tolist()
    )
