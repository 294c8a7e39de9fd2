from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bokern.errors import InputError
from bokern.reporting import caption_of, search_course
from bokern.reporting.attempts import FURTHEST, named_text
from bokern.reporting.findings import tried
from tests.reporting.fakes import make_comparison, make_trace


def test_scores_by_round_with_their_descent() -> None:
    found = make_comparison(1, trace=make_trace())
    lines, *families = search_course(found).data
    shown = {
        point[0]: (x, y, symbol)
        for trace in families
        if trace.customdata is not None
        for x, y, symbol, point in zip(
            trace.x, trace.y, trace.marker.symbol, trace.customdata, strict=True
        )
    }
    assert set(shown) == {"RBF()", "Linear()", "Linear() + RBF()", "Periodic() + RBF()"}
    assert [round(shown[name][0]) for name in shown] == [
        {"RBF()": 0, "Linear()": 0}.get(name, 1) for name in shown
    ]
    assert shown["Linear() + RBF()"][1:] == (0.0, "circle")
    assert shown["RBF()"][1:] == (-9.0, "circle-open")
    assert shown["Periodic() + RBF()"][1:] == (-8.0, "x-thin")
    assert shown["Linear()"][1] == -FURTHEST
    x, y = np.array(lines.x, dtype=float), np.array(lines.y, dtype=float)
    starts = {(x[i], y[i]) for i in range(0, len(x), 3)}
    ends = {(x[i + 1], y[i + 1]) for i in range(0, len(x), 3)}
    assert starts == {shown["RBF()"][:2]}
    assert ends == {shown[name][:2] for name in shown if "+" in name}


def test_the_caption_counts_failures() -> None:
    found = make_comparison(1, trace=make_trace())
    caption = caption_of(search_course(found))
    assert "The 5 structures that the search tried" in caption
    assert "1 failed" in caption
    without = make_comparison(1, trace=make_trace()[:2])
    assert "failed" not in caption_of(search_course(without))
    never = replace(make_trace()[0], structure="Periodic()", score=None)
    cut_short = make_comparison(1, trace=(*make_trace(), never))
    caption = caption_of(search_course(cut_short))
    assert "1 failed; 1 left when the budget was spent." in caption


def test_a_comparison_that_was_no_search_is_refused() -> None:
    with pytest.raises(InputError, match=r"bokern\.search"):
        search_course(make_comparison(1))


def test_a_table_of_what_was_tried() -> None:
    assert tried(make_comparison(1)) is None
    table = tried(make_comparison(1, trace=make_trace()))
    assert table is not None
    assert [row["score"] for row in table.rows] == [
        "−22.00",
        "−30.00",
        "−31.00",
        "−140.00",
        "–",
    ]
    first = table.rows[0]
    assert (first["parent"], first["move"], first["round"]) == (
        "RBF()",
        "add Linear()",
        "1",
    )
    assert table.rows[2]["round"] == "start"
    assert table.left_out == 0


def test_numbers_of_columns_become_names() -> None:
    assert named_text("RBF(columns=[1])", ["a", "b"]) == "RBF(columns=['b'])"
    assert named_text("Unknown()", ["a", "b"]) == "Unknown()"
