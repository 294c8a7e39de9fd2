from dataclasses import asdict, replace

import pandas as pd
import pytest

from bokern.errors import StorageError
from bokern.selection.attempt import STATUSES, Attempt, trace_table

ONE = Attempt("RBF()", "", "", 0, -3.5, "converged", 120, 0.25, 200)


def test_a_document_comes_back():
    assert Attempt.from_json(asdict(ONE)) == ONE
    assert Attempt.from_json(asdict(replace(ONE, score=None))).score is None


def test_documents_without_rows_are_read():
    document = asdict(ONE)
    del document["rows"]
    assert Attempt.from_json(document) == replace(ONE, rows=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("structure", "Nonsense()"),
        ("structure", None),
        ("parent", "RBF("),
        ("round", "1"),
        ("round", True),
        ("score", "high"),
        ("status", "asleep"),
        ("seconds", None),
        ("rows", 1.5),
        ("colour", "red"),
    ],
)
def test_malformed_documents_are_refused(name, value):
    with pytest.raises(StorageError):
        Attempt.from_json(asdict(ONE) | {name: value})


def test_what_was_left_when_the_budget_was_spent_was_not_looked_at():
    unreached = replace(ONE, status="unreached", score=None)
    failed = replace(unreached, status="failed")
    assert [a.looked_at for a in (ONE, unreached, failed)] == [True, False, True]


def test_a_table_has_a_row_an_attempt():
    table = trace_table([ONE, replace(ONE, score=None, status="unreached")])
    assert list(table.columns) == list(asdict(ONE))
    assert pd.api.types.is_float_dtype(table["score"])
    assert table["score"].isna().tolist() == [False, True]
    assert set(table["status"]) <= set(STATUSES)
    assert list(trace_table([]).columns) == list(asdict(ONE))
