from datetime import timedelta

import pytest

from bokern.errors import InputError
from bokern.selection import budget
from bokern.selection.budget import Meter, read_budget


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
