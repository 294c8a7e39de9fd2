from __future__ import annotations

from bokern.reporting.flags import meanings


def test_only_flags_that_occur_are_explained_once() -> None:
    assert [flag for flag, _ in meanings(["", "ONE_HIT AT_BOUND", "ONE_HIT"])] == [
        "AT_BOUND",
        "ONE_HIT",
    ]


def test_an_unknown_flag_is_not_lost() -> None:
    assert meanings(["NEW"]) == [("NEW", "see the documentation")]
