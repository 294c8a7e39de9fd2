"""Files that earlier releases wrote: opened, ranked the same, gone on with."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

import bokern
from bokern import Study
from bokern.ax import load
from bokern.cli import main
from bokern.errors import StorageError
from bokern.selection import Comparison
from tests.optimize.releases import FILES, described, ranking, searched, value

pytestmark = pytest.mark.integration
RELEASES = sorted(path for path in FILES.iterdir() if path.is_dir())


@pytest.fixture(params=RELEASES, ids=lambda path: path.name)
def files(request, tmp_path):
    """A copy of what a release wrote."""
    return shutil.copytree(request.param, tmp_path / "files")


@pytest.fixture
def expected(files):
    return json.loads((files / "expected.json").read_text("utf-8"))


def near(numbers):
    return pytest.approx(numbers, abs=1e-9, rel=0)


def test_this_release_has_its_files():
    assert bokern.__version__ in [path.name for path in RELEASES]


def test_a_study_says_what_it_said_and_goes_on(files, expected):
    study = Study(files / "study.db")
    assert study.check() == []
    found, wanted = described(study), expected["study"]
    assert found["trials"] == wanted["trials"]
    assert found["best"] == wanted["best"]
    assert len(found["leaderboard"]) == len(wanted["leaderboard"]) > 0
    for one, other in zip(found["leaderboard"], wanted["leaderboard"], strict=True):
        numbers = {k: v for k, v in other.items() if isinstance(v, float)}
        assert {k: one[k] for k in numbers} == near(numbers)
        assert {k: one[k] for k in other if k not in numbers} == {
            k: v for k, v in other.items() if k not in numbers
        }
    pending = study.pending[0]
    study.tell(pending, {"value": value(pending.parameters), "cost": 1.0})
    asked = study.ask()
    assert asked.id == len(wanted["trials"])
    assert asked.generator in ("Matern(2.5)", "RBF()")
    assert study.check() == []


def test_the_command_line_reads_a_study(files, expected, capsys):
    assert main(["check", str(files / "study.db")]) == 0
    assert capsys.readouterr().out.startswith("sound: ")
    assert main(["best", str(files / "study.db"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trial"] == expected["study"]["best"]
    again = files / "again.json"
    assert main(["export", str(files / "study.db"), str(again)]) == 0
    old = json.loads((files / "study.json").read_text("utf-8"))
    assert json.loads(again.read_text("utf-8"))["trials"] == old["trials"]


def test_a_table_is_imported(files, expected):
    stored = Study(files / "study.db").problem
    study = Study(
        None, {p.name: p.declared for p in stored.parameters}, **stored.described
    )
    study.add(pd.read_csv(files / "study.csv"))
    ended = [t for t in expected["study"]["trials"] if t["status"] != "pending"]
    assert [study[i].to_json()["values"] for i in range(len(study))] == [
        t["values"] for t in ended
    ]
    assert [dict(study[i].parameters) for i in range(len(study))] == [
        t["parameters"] for t in ended
    ]


def test_a_snapshot_is_loaded(files, expected):
    client = load(files / "ax.json")
    assert len(client._experiment.trials) == len(expected["study"]["trials"])


def test_a_comparison_ranks_the_same(files, expected):
    found = Comparison.from_json(files / "comparison.json")
    assert ranking(found) == near(expected["comparison"])
    assert list(ranking(found)) == list(expected["comparison"])


def test_a_search_goes_on_from_its_journal_or_is_refused(files, expected):
    """Numbers of other releases may differ, so theirs are not mixed with ours."""
    before = (files / "search.jsonl").read_bytes()
    if (
        files.joinpath("search.jsonl")
        .read_text()
        .count(f'"bokern":"{bokern.__version__}"')
    ):
        found = searched(files / "search.jsonl")
        assert ranking(found) == near(expected["search"])
    else:
        with pytest.raises(StorageError, match="pass another file"):
            searched(files / "search.jsonl")
    assert (files / "search.jsonl").read_bytes() == before


def test_other_versions_of_a_comparison_are_refused_with_advice(files):
    document = json.loads((files / "comparison.json").read_text())
    for version in (2, 0, None, "1"):
        document["version"] = version
        with pytest.raises(StorageError, match=r"version .* update bokern"):
            Comparison.from_json(json.dumps(document))
