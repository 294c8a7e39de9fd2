from datetime import timedelta

import pytest

from bokern.errors import InputError
from bokern.selection import budget
from bokern.selection.budget import Meter, charge, read_budget
from bokern.structures import parse


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, budget.DEFAULT),
        (500, 500),
        ("20000", 20000),
        ("90s", timedelta(seconds=90)),
        ("5min", timedelta(minutes=5)),
        (timedelta(hours=1), timedelta(hours=1)),
    ],
)
def test_budgets(given, read):
    assert read_budget(given) == read


@pytest.mark.parametrize(
    "given", [0, -1, 1.5, True, "0", "soon", "", "-5min", timedelta(0), [1], "NaT"]
)
def test_bad_budgets(given):
    with pytest.raises(InputError, match="evaluations, such as 20000"):
        read_budget(given)


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("Matern(2.5) + Linear()", 1),
        ("Invariant(RBF(), cyclic(3))", 1),
        ("Invariant(RBF(), permutations(5))", 1 + 120 // 32),
        ("Linear() + Invariant(RBF(), permutations(6))", 1 + 720 // 32),
    ],
)
def test_sums_over_many_views_count_more(text, each):
    (dim,) = {group.degree for group in parse(text).groups()} or {1}
    names = [f"x{i}" for i in range(dim)]
    assert charge(parse(text).resolve(names), 10) == 10 * each


def test_a_meter_counts_evaluations():
    meter = Meter(200, progress=False)
    meter.spend(50)
    meter.show("looking", "RBF()")
    assert meter.share == 0.25
    meter.close()


def test_a_meter_of_time_runs_by_itself():
    meter = Meter(timedelta(seconds=1e-3), progress=False)
    while meter.share < 1.0:
        pass
    assert meter.spent == 0
