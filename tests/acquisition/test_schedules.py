"""The schedules against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from bokern.acquisition import ContinuousSchedule, FiniteSchedule
from bokern.errors import SpaceError

pytestmark = pytest.mark.oracle


def test_finite_schedule_by_hand():
    # 2 log(1000 * 25 * pi^2 / 0.6) = 2 * (10.1266311 + 2.8002855) = 25.8538331
    assert FiniteSchedule(1000, scale=1.0).beta(5) == pytest.approx(
        25.8538331, abs=1e-6
    )
    assert FiniteSchedule(1000).beta(5) == pytest.approx(25.8538331 / 5, abs=1e-6)


def test_continuous_schedule_by_hand():
    # 2 log(2 pi^2 900 / .3) = 21.97796; 900 * 2 * sqrt(log 80) = 3767.998;
    # 4 log(3767.998) = 32.93711; the sum is 54.91507 and its root 7.41.
    unscaled = ContinuousSchedule(2, scale=1.0)
    assert unscaled.beta(30) == pytest.approx(54.91507, abs=2e-4)
    assert math.sqrt(unscaled.beta(30)) == pytest.approx(7.41, abs=0.005)
    assert ContinuousSchedule(2).beta(30) == pytest.approx(54.91507 / 5, abs=1e-4)


def test_continuous_schedule_uses_every_constant():
    plain = ContinuousSchedule(3, scale=1.0)
    # b and r enter as 2 d log(b r), with d = 3.
    wide = ContinuousSchedule(3, b=2.0, r=5.0, scale=1.0)
    assert wide.beta(7) - plain.beta(7) == pytest.approx(6 * math.log(10.0))
    # a enters as d log(log(4 d a / delta)).
    steep = ContinuousSchedule(3, a=4.0, scale=1.0)
    gain = 3 * math.log(math.log(480.0) / math.log(120.0))
    assert steep.beta(7) - plain.beta(7) == pytest.approx(gain)


def test_large_finite_spaces_do_not_overflow():
    assert math.isfinite(FiniteSchedule(10**400).beta(10))


@pytest.mark.parametrize("schedule", [FiniteSchedule(50), ContinuousSchedule(4)])
def test_weight_grows_with_the_observations(schedule):
    betas = [schedule.beta(t) for t in range(1, 100)]
    assert betas == sorted(betas)
    assert betas[0] > 0


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: FiniteSchedule(0), "size must be a positive number"),
        (lambda: FiniteSchedule(5, delta=1.0), "delta is a probability"),
        (lambda: FiniteSchedule(5, scale=-1.0), "scale must be a positive number"),
        (lambda: ContinuousSchedule(0), "dim must be a positive number"),
        (lambda: ContinuousSchedule(2, delta=0.0), "delta is a probability"),
        (lambda: ContinuousSchedule(2, b=math.nan), "b must be a positive number"),
        (lambda: ContinuousSchedule(2, b=1e-9), "no weight to exploration"),
        (lambda: ContinuousSchedule(2, a=1e-9), "no weight to exploration"),
        (lambda: FiniteSchedule(5).beta(0), "counts observations from 1"),
        (lambda: ContinuousSchedule(5).beta(0), "counts observations from 1"),
    ],
)
def test_bad_arguments(build, words):
    with pytest.raises(SpaceError, match=words):
        build()
