"""Constraints as text: what is read, what is refused, and what keeps them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bokern.errors import SpaceError
from bokern.optimize.constraints import (
    read_constraints,
    read_linear,
)
from bokern.optimize.space import read_space

SPACE = read_space(
    {
        "x": (0.0, 1.0),
        "y": (0.0, 2.0),
        "n": (1, 5),
        "lr": (1e-5, 1e-1, "log"),
        "k": [1, 2, 3],
        "gamma": (0.0, 1.0),
        "learning rate": (0.0, 1.0),
        "fixed": 3,
    }
)


@pytest.mark.parametrize(
    ("text", "weights", "bound"),
    [
        ("x <= 1", {"x": 1.0}, 1.0),
        ("x + 2*y <= 1.5", {"x": 1.0, "y": 2.0}, 1.5),
        ("x+y*2<=1.5", {"x": 1.0, "y": 2.0}, 1.5),
        ("x >= 0.25", {"x": -1.0}, -0.25),
        ("x <= y", {"x": 1.0, "y": -1.0}, 0.0),
        ("1 - x <= y + 2", {"x": -1.0, "y": -1.0}, 1.0),
        ("- x + x + .5*y <= 1e2", {"y": 0.5}, 100.0),
        ('"learning rate" + x <= 1', {"learning rate": 1.0, "x": 1.0}, 1.0),
        ("2*x - 3*x <= 0", {"x": -1.0}, 0.0),
        ("größe <= 1", {"größe": 1.0}, 1.0),
    ],
)
def test_what_is_read(text, weights, bound):
    found = read_linear(text)
    assert dict(found.weights) == weights
    assert found.bound == pytest.approx(bound)
    assert read_linear(str(found)) == found


@given(st.text(alphabet='xy01.e+-*<>= "()\n;', max_size=30))
@pytest.mark.property
def test_any_text_is_read_or_refused(text):
    try:
        found = read_linear(text)
    except SpaceError:
        return
    assert read_linear(str(found)) == found


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(-9, 9)), min_size=1),
    st.integers(-9, 9),
    st.tuples(*[st.floats(-3, 3)] * 3),
)
@pytest.mark.property
def test_it_means_what_it_says(terms, bound, point):
    """The oracle is Python's own arithmetic on the same text."""
    values = dict(zip("xyz", point, strict=True))
    text = " + ".join(f"{w}*{name}" for name, w in terms).replace("+ -", "- ")
    if all(sum(w for n, w in terms if n == name) == 0 for name in "xyz"):
        return
    left = eval(text, {}, values)
    found = read_linear(f"{text} <= {bound}")
    assert found.excess(values) == pytest.approx(left - bound, abs=1e-9)
    opposite = read_linear(f"{text} >= {bound}")
    assert opposite.excess(values) == pytest.approx(bound - left, abs=1e-9)


def test_one_text_is_a_list_of_one():
    assert read_constraints("x + y <= 1", SPACE) == read_constraints(
        ["x + y <= 1"], SPACE
    )
    assert read_constraints(None, SPACE) == ()


def test_rounding_breaks_no_constraint():
    (found,) = read_constraints("x + y <= 0.3", SPACE)
    assert found.keeps({"x": 0.1, "y": 0.2})
    assert not found.keeps({"x": 0.1, "y": 0.2001})
