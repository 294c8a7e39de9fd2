from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.optimise.report import html, markdown
from benchmarks.optimise.table import (
    cumulative_regret,
    overall,
    paired_p_value,
    rows,
    simple_regret,
)


def record(method, seed, values, **changes):
    base = {
        "objective": "toy",
        "method": method,
        "seed": seed,
        "budget": 4,
        "initial": 1,
        "optimum": 1.0,
        "threshold": 0.5,
        "values": values,
        "cpu_seconds": [9.0, 0.1, 0.2, 0.3][: len(values)],
        "error": None,
        "found": None,
        "versions": {"torch": "2"},
    }
    return base | changes


def test_simple_regret_is_the_least_so_far():
    regret = simple_regret(record("ax", 0, [3.0, 2.0, 5.0, 1.5]))
    np.testing.assert_allclose(regret, [2.0, 1.0, 1.0, 0.5])


def test_a_crash_counts_as_its_last_regret():
    crashed = record("ax", 0, [3.0, 2.0], error="RuntimeError")
    np.testing.assert_allclose(simple_regret(crashed), [2.0, 1.0, 1.0, 1.0])
    assert cumulative_regret(crashed) == pytest.approx(1.5 * 4)
    assert simple_regret(record("ax", 0, [], error="ImportError"))[0] == math.inf


def test_rows_use_only_seeds_that_all_methods_have():
    records = [
        record("ax", 0, [3.0, 2.0, 2.0, 2.0]),
        record("ax", 1, [3.0, 2.0, 2.0, 1.2]),
        record("ours", 0, [3.0, 2.0, 2.0, 1.25]),
    ]
    ax, ours = rows(records)
    assert (ax.seeds, ours.seeds) == (1, 1)
    assert ours.ratio == pytest.approx(0.25)
    assert ours.solved == 1.0
    assert ax.solved == 0.0
    assert ours.cpu_median == pytest.approx(0.2)
    assert ours.cpu_maximum == pytest.approx(0.3)
    assert math.isnan(ours.p_value)
    assert overall([ax, ours]) == {"ours": pytest.approx(0.25)}


def test_regrets_far_below_the_threshold_count_alike_in_ratios():
    records = [
        record("ax", 0, [1.0, 1.0, 1.0, 1.0 + 1e-9]),
        record("ours", 0, [1.0, 1.0, 1.0, 1.0 + 1e-4]),
    ]
    assert rows(records)[1].ratio == 1.0


def test_paired_test_sees_a_difference_and_none():
    other = np.arange(1.0, 13.0)
    assert paired_p_value(other * 0.5, other) < 0.01
    assert paired_p_value(other, other) == 1.0


def test_report_names_thresholds_and_versions():
    records = [
        record("ax", s, [3.0, 2.0, 1.9, 1.0 + 0.1 * (s + 1)]) for s in range(7)
    ] + [record("ours", s, [3.0, 2.0, 1.9, 1.01]) for s in range(7)]
    table = markdown(records)
    assert "| toy | ours | 7 | 0 | 0.01 [0.01, 0.01] | 100% |" in table
    assert "toy 0.5" in table
    assert "torch 2" in table
    page = html(records)
    assert "ours, 7 seeds" in page
    assert "toy" in page
