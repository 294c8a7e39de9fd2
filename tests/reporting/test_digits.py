from __future__ import annotations

import math

import pytest

from bokern.reporting.digits import general, nats, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1.234, "−1.2"), (-0.01, "0.0"), (None, "–"), (math.nan, "–"), (5.0, "5.0")],
)
def test_nats(value: float | None, text: str) -> None:
    assert nats(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1234567.0, "−1.235e+06"),
        (3, "3"),
        (True, "True"),
        (None, "–"),
        (math.nan, "–"),
        (-math.inf, "−∞"),
        ("x-y", "x-y"),
    ],
)
def test_general(value: object, text: str) -> None:
    assert general(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0 %"), (1e-7, "< 0.1 %"), (0.5, "50.0 %"), (0.99999, "> 99.9 %")],
)
def test_percent_never_rounds_to_certainty(value: float, text: str) -> None:
    assert percent(value) == text
