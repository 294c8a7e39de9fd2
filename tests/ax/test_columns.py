"""Structures over the parameters of a space, and groups that do not fit it."""

from __future__ import annotations

import pytest
from ax.core.parameter import ChoiceParameter, ParameterType, RangeParameter
from ax.core.search_space import SearchSpace

from bokern.ax.choice import AUTO, FALLBACK, offered
from bokern.ax.columns import in_space
from bokern.ax.strategy import generation_strategy
from bokern.errors import ColumnError, GroupError, SpaceError, StructureError
from bokern.structures import parse


def ranged(name, lower, upper, log=False, kind=ParameterType.FLOAT):
    return RangeParameter(name, kind, lower, upper, log_scale=log)


SPACE = SearchSpace(
    [
        ChoiceParameter(
            "kind",
            ParameterType.STRING,
            ["u", "v", "w"],
            is_ordered=False,
            sort_values=False,
        ),
        ranged("a", 0.001, 1.0),
        ranged("b", 0.001, 1.0),
        ranged("log", 0.001, 1.0, log=True),
        ranged("wide", -2.0, 2.0),
        ranged("n", 1, 9, kind=ParameterType.INT),
    ]
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Matern(2.5)", "Matern(2.5)"),
        ("RBF(columns=[1, 'b'])", "RBF(columns=['a', 'b'])"),
        ("Invariant(RBF(), swap(1, 2))", "Invariant(RBF(), swap('a', 'b'))"),
        (
            "Linear(columns=[4]) + Kumaraswamy(RBF(columns=[3]))",
            "Kumaraswamy(RBF(columns=['log'])) + Linear(columns=['wide'])",
        ),
        (
            "Invariant(RBF(), product(swap('a', 2), sign_flips(4)))",
            "Invariant(RBF(), product(swap('a', 'b'), sign_flips('wide')))",
        ),
    ],
)
def test_columns_become_names(text, expected):
    assert in_space(parse(text), SPACE).canonical() == parse(expected)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("Invariant(RBF(), swap('a', 'log'))", GroupError, "log scale"),
        ("Invariant(RBF(), swap('a', 'wide'))", GroupError, "same type, bounds"),
        ("Invariant(RBF(), swap('a', 'n'))", GroupError, "int in"),
        ("Invariant(RBF(), sign_flips('a'))", GroupError, "symmetric about 0"),
        ("Invariant(RBF(), sign_flips('log'))", GroupError, "symmetric about 0"),
        ("Invariant(RBF(), permutations(3))", GroupError, "acts on all columns"),
        ("Invariant(RBF(), swap('a', 'kind'))", ColumnError, "unordered choice"),
        ("RBF(columns=[0])", ColumnError, "unordered choice"),
        ("RBF(columns=['z'])", ColumnError, "does not exist"),
        ("RBF(columns=[9])", ColumnError, "does not exist"),
    ],
)
def test_what_does_not_fit_is_refused(text, error, words):
    with pytest.raises(error, match=words):
        in_space(parse(text), SPACE)


def test_what_is_offered():
    assert offered("auto") == offered(AUTO) == offered([AUTO]) == (FALLBACK,)
    assert offered("RBF()") == offered(parse("RBF()")) == offered(["RBF()"])


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"structures": []}, StructureError, "is empty"),
        ({"structures": ["RBF()", "RBF()"]}, StructureError, "twice"),
        ({"structures": 3}, StructureError, "structures= expects"),
        ({"structures": "Unknown()"}, StructureError, "unknown structure"),
        ({"acquisition": "pi"}, SpaceError, "expected one of logei"),
        ({"selection": "vote"}, SpaceError, "expected one of winner"),
        ({"initial": -1}, SpaceError, "0 or more"),
        ({"initial": True}, SpaceError, "0 or more"),
    ],
)
def test_bad_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        generation_strategy(**arguments)
