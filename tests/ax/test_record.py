"""Records as they are read back, whoever wrote them."""

from __future__ import annotations

import json

import pytest

from bokern.ax.record import StructureRecord
from bokern.errors import FitWarning

GOOD = StructureRecord(
    offered=["auto"],
    selection="draw",
    incumbents={"y": {"RBF()": 1.0}},
    searched_at={"y": 9, "cost": 10},
    evidence={"y": {"RBF()": {"log_evidence": float("-inf")}}},
    theta={"y": {"RBF()": [0.1, -2.0]}},
    rows=10,
    repeats=1,
    explored=True,
    tests={"y": 9},
).to_json()


def test_a_record_survives_json():
    found = StructureRecord.from_json(json.loads(json.dumps(GOOD)))
    assert found is not None
    assert found.to_json() == GOOD


def test_a_record_from_when_all_metrics_were_compared_at_once():
    newer = ("repeats", "explored", "tests")
    old = {k: v for k, v in GOOD.items() if k not in newer} | {"searched_at": 9}
    found = StructureRecord.from_json(old)
    assert (found.searched_at, found.repeats, found.explored) == ({"y": 9}, 0, False)
    nothing = {"version": 1, "offered": ["auto"], "selection": "draw"}
    assert StructureRecord.from_json({**nothing, "searched_at": 0}).searched_at == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("offered", "auto"),
        ("offered", []),
        ("selection", None),
        ("incumbents", ["RBF()"]),
        ("incumbents", {"y": {}}),
        ("incumbents", {"y": {"RBF()": "all"}}),
        ("incumbents", {"y": {"RBF()": -1.0}}),
        ("incumbents", {"y": {"RBF()": float("nan")}}),
        ("searched_at", "9"),
        ("searched_at", True),
        ("searched_at", {"y": -1}),
        ("evidence", {"y": [1.0]}),
        ("evidence", 3),
        ("theta", {"y": {"RBF()": 3.0}}),
        ("warm", {"y": {"RBF()": ["a"]}}),
        ("rows", None),
        ("explored", 1),
        ("tests", {"y": -1}),
        ("unheard_of", 1),
    ],
)
def test_wrong_types_are_ignored_with_a_warning(name, value):
    with pytest.warns(FitWarning, match=f"cannot be read .{name}.: went on"):
        assert StructureRecord.from_json({**GOOD, name: value}) is None


def test_what_is_missing_is_named():
    with pytest.warns(FitWarning, match="cannot be read .offered."):
        assert StructureRecord.from_json({"version": 1, "selection": "draw"}) is None


@pytest.mark.parametrize("document", [None, [], {}, {"version": 2}])
def test_other_versions_are_no_record(document):
    assert StructureRecord.from_json(document) is None
