"""How the function is called, and what counts as a value."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bokern.errors import SpaceError
from bokern.optimize.black_box import BlackBox


class OnDictionaries:
    def __call__(self, point):
        return point["x"] + point["y"]


def loose(**parameters):
    return parameters["x"] + parameters["y"]


@pytest.mark.parametrize(
    ("f", "keywords"),
    [
        (lambda x, y: x + y, True),
        (lambda y, x, extra=0: x + y, True),
        (lambda *, x, y: x + y, True),
        (loose, True),
        (lambda p: p["x"] + p["y"], False),
        (lambda p, scale=1: p["x"] + p["y"], False),
        (OnDictionaries(), False),
    ],
)
def test_both_ways_of_calling(f, keywords):
    black_box = BlackBox(f, ["x", "y"])
    assert black_box.takes_keywords is keywords
    assert black_box({"x": 1.0, "y": 2.0}).values == {"value": 3.0}


def test_one_parameter_is_passed_by_name_only_if_it_is_named():
    assert BlackBox(lambda x: x, ["x"])({"x": 2.0}).values == {"value": 2.0}
    assert BlackBox(lambda p: p["x"], ["x"])({"x": 2.0}).values == {"value": 2.0}


@pytest.mark.parametrize("f", [lambda x, z: x, lambda: 1.0, 3.0])
def test_functions_that_cannot_take_the_parameters(f):
    with pytest.raises(SpaceError):
        BlackBox(f, ["x", "y"])


@pytest.mark.parametrize(
    "value",
    [1, 1.0, np.float32(1), np.array([1.0]), torch.tensor([[1.0]]), np.int64(1)],
)
def test_numbers(value):
    assert BlackBox(lambda p: value, ["x"])({"x": 0}).values == {"value": 1.0}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-float("inf"), "inf"),
        (10**400, "inf"),
        (1e100, "too large"),
        (None, "NoneType"),
        ("3.2", "str"),
        (1j, "complex"),
        (True, "bool"),
        (np.True_, "bool"),
        (np.zeros(2), "one number as value, got 2"),
        (torch.zeros(0), "one number as value, got 0"),
        ([1.0], "list"),
    ],
)
def test_what_is_no_value(value, words):
    outcome = BlackBox(lambda p: value, ["x"])({"x": 0})
    assert outcome.failed
    assert words in outcome.reason


def test_exceptions_are_failures_and_interruptions_are_not():
    def broken(p):
        raise p["x"]("boom")

    black_box = BlackBox(broken, ["x"])
    assert black_box({"x": ValueError}).reason == "ValueError: boom"
    with pytest.raises(KeyboardInterrupt):
        black_box({"x": KeyboardInterrupt})


@pytest.mark.parametrize(
    ("value", "values", "sems"),
    [
        ((1.0, 0.5), {"value": 1.0}, {"value": 0.5}),
        ({"value": 2}, {"value": 2.0}, {"value": None}),
        ({"value": (2, 0)}, {"value": 2.0}, {"value": 0.0}),
    ],
)
def test_standard_errors(value, values, sems):
    outcome = BlackBox(lambda p: value, ["x"])({"x": 0})
    assert (outcome.values, outcome.sems) == (values, sems)


def test_several_outcomes():
    black_box = BlackBox(lambda p: p["x"], ["x"], ["loss", "cost"])
    found = black_box({"x": {"cost": (3.0, 0.1), "loss": 1}})
    assert found.values == {"loss": 1.0, "cost": 3.0}
    assert found.sems == {"loss": None, "cost": 0.1}
    assert "['cost'] are missing" in black_box({"x": {"loss": 1}}).reason
    assert "unknown outcomes ['gain']" in black_box({"x": {"gain": 1}}).reason
    assert "'loss'" in black_box({"x": 1.0}).reason
    assert "0 or more, got -1" in black_box({"x": {"loss": 1, "cost": (1, -1)}}).reason
