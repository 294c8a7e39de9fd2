"""Search spaces as a user writes them, good and bad."""

from __future__ import annotations

import numpy as np
import pytest

from bokern.errors import SpaceError
from bokern.optimize import choice
from bokern.optimize.points import read_points
from bokern.optimize.settings import Problem
from bokern.optimize.space import read_space


def test_every_form():
    x, n, lr, layers, size, kind, flag = read_space(
        {
            "x": (0.0, 1),
            "n": (1, 10),
            "lr": (1e-5, 1e-1, "log"),
            "layers": [1, 2, 4.0],
            "size": ["small", "large"],
            "kind": choice("a", "b"),
            "flag": [False, True],
        }
    )
    assert (x.kind, x.bounds, x.log) == ("float", (0.0, 1.0), False)
    assert (n.kind, n.bounds) == ("int", (1, 10))
    assert (lr.kind, lr.log, lr.to_ax().scaling) == ("float", True, "log")
    assert (layers.kind, layers.values, layers.ordered) == (
        "float",
        (1.0, 2.0, 4.0),
        True,
    )
    assert (size.kind, size.ordered) == ("str", True)
    assert (kind.kind, kind.ordered, kind.to_ax().is_ordered) == ("str", False, False)
    assert flag.kind == "bool"


def test_points_take_the_types_of_the_space():
    problem = Problem.read({"x": (0.0, 1.0), "n": (1, 9), "k": [1.0, 2.0], "c": 3})
    (point,) = read_points([{"k": 2, "x": 1, "n": 2.0}], problem, "initial")
    assert list(point) == ["x", "n", "k", "c"]
    assert [type(v) for v in point.values()] == [float, int, float, int]


def test_numbers_of_numpy_become_plain_ones():
    space = {
        "n": (np.int64(0), np.int32(5)),
        "x": (np.float32(0.0), np.int64(1)),
        "v": [np.int64(1), 2, np.float64(2.5)],
        "flag": choice(np.bool_(True), np.bool_(False)),
        "word": choice(np.str_("a"), "b"),
    }
    n, x, v, flag, word = read_space(space)
    assert (n.kind, n.bounds, x.kind, x.bounds) == ("int", (0, 5), "float", (0.0, 1.0))
    assert (v.kind, v.values) == ("float", (1.0, 2.0, 2.5))
    assert (flag.kind, flag.values) == ("bool", (True, False))
    assert (word.kind, word.values) == ("str", ("a", "b"))
    plain = [*n.bounds, *x.bounds, *v.values, *flag.values, *word.values]
    assert {type(value) for value in plain} == {int, float, bool, str}
    assert type(n.check(np.int64(3))) is int
    assert type(x.check(np.float32(0.5))) is float
    assert flag.check(np.bool_(False)) is False
    with pytest.raises(SpaceError, match="bounds are finite numbers"):
        read_space({"n": (np.bool_(False), np.int64(5))})
