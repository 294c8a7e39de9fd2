from __future__ import annotations

import math

import pytest

from benchmarks.optimise.cells import Cells
from benchmarks.optimise.cost import cost
from benchmarks.optimise.goals import goals
from benchmarks.optimise.objectives import CONTROLS, NONSTATIONARY
from benchmarks.optimise.part import Part
from benchmarks.optimise.real_tables import REAL_TABLES
from benchmarks.optimise.report import html, markdown
from benchmarks.optimise.table import evaluations
from benchmarks.optimise.until import fewer, until_rows


def record(objective, method, seed, values, **changes):
    base = {
        "objective": objective,
        "method": method,
        "seed": seed,
        "budget": len(values),
        "initial": 1,
        "optimum": 0.0,
        "threshold": 0.1,
        "ends_when_solved": False,
        "values": values,
        "cpu_seconds": [0.5] * len(values),
        "error": None,
        "found": None,
        "versions": {},
    }
    return base | changes


def ends(objective, method, end, seeds=3, **changes):
    return [record(objective, method, s, [2.0, end], **changes) for s in range(seeds)]


def until(objective, method, count, solved=True):
    values = [1.0] * (count - solved) + [0.0] * solved
    return [
        record(objective, method, s, values, budget=40, ends_when_solved=True)
        for s in range(2)
    ]


def part(records, text):
    (found,) = [p for p in goals(records) if text in p.goal]
    return found


def test_without_records_nothing_is_measured():
    found = goals([])
    assert {p.number for p in found} == set(range(1, 8))
    assert {p.verdict for p in found} == {"not measured"}
    assert {p.measured for p in found} == {"–"}


def test_both_gramacy_problems_have_to_be_solved():
    solved = ends("gramacy_lee", "bokern", 0.0)
    half = [*ends("gramacy2d", "bokern", 0.0, seeds=1), *solved]
    half += [record("gramacy2d", "bokern", 1, [1.0, 1.0])]
    found = part(half, "Gramacy")
    assert found.figure == 0.5
    assert found.verdict == "not reached"
    assert found.seeds == 2
    assert part(solved, "Gramacy").verdict == "not measured"
    both = [*solved, *ends("gramacy2d", "bokern", 0.0)]
    assert part(both, "Gramacy").verdict == "reached"


def test_the_nonstationary_set_is_set_beside_ax_and_the_best_peer():
    records = []
    for objective in NONSTATIONARY:
        records += ends(objective, "bokern", 0.4)
        records += ends(objective, "ax", 0.8)
        records += ends(objective, "smac", 0.5)
    ours = part(records, "nonstationary set")
    assert ours.figure == pytest.approx(0.5)
    assert ours.verdict == "reached"
    best = part(records, "best peer")
    assert best.figure == pytest.approx(0.8)
    assert "svc 0.8 of smac" in best.detail
    assert best.verdict == "reached"
    worse = part([*records, *ends("svc", "hebo", 0.1)], "best peer")
    assert worse.figure == pytest.approx(4.0)
    assert worse.verdict == "not reached"


def test_no_harm_is_judged_on_the_worse_control():
    first, second = CONTROLS
    records = [*ends(first, "bokern", 0.3), *ends(first, "ax", 0.3)]
    assert part(records, "each stationary control").verdict == "not measured"
    records += [*ends(second, "bokern", 0.6), *ends(second, "ax", 0.3)]
    found = part(records, "each stationary control")
    assert found.figure == pytest.approx(2.0)
    assert found.verdict == "not reached"


def test_evaluations_are_counted_to_the_first_below_the_threshold():
    solved = record("o", "m", 0, [3.0, 0.05, 1.0, 0.0])
    assert evaluations(solved) == 2
    assert evaluations(record("o", "m", 0, [3.0, 1.0], budget=40)) == 40
    assert evaluations(record("o", "m", 0, [], budget=40)) == 40


def test_a_run_that_was_not_solved_counts_as_its_budget():
    records = until("cyclic3_until", "ax", 40, solved=False)
    records += until("cyclic3_until", "bokern-known", 8)
    records += until("cyclic3_until", "bokern", 10)
    one = part(records, "ours with a known group")
    assert one.figure == pytest.approx(5.0)
    assert one.verdict == "not measured"
    records += [r | {"objective": "permutation6_until"} for r in records]
    assert part(records, "ours with a known group").verdict == "reached"
    assert part(records, "÷ those with a known group").figure == pytest.approx(1.25)
    ax, known, ours = until_rows(records)[:3]
    assert (ax.solved, ax.median, ax.fewer) == (0.0, 40.0, 1.0)
    assert (known.solved, known.median) == (1.0, 8.0)
    assert ours.fewer == pytest.approx(4.0)
    assert math.isnan(fewer([]))


def test_groups_are_right_wrong_or_claimed_for_nothing():
    found = [{"right_group": k < 3, "invariant": 0.9} for k in range(4)]
    records = [
        record("cyclic3", "bokern", s, [1.0], found=f) for s, f in enumerate(found)
    ]
    records.append(record("cyclic3", "bokern", 9, [1.0], found={"best": "RBF()"}))
    right = part(records, "right group after 30")
    assert (right.figure, right.seeds) == (0.75, 4)
    assert right.verdict == "reached"
    records.append(record("cyclic3", "bokern", 5, [1.0], error="RuntimeError"))
    assert part(records, "right group after 30").figure == 0.6
    assert part(records, "right group after 60").verdict == "not measured"
    controls = [
        record(o, "bokern", s, [1.0], found={"invariant": 0.6 if s == 0 else 0.1})
        for o in CONTROLS
        for s in range(4)
    ]
    assert part(controls, "more probable than not").figure == 0.25


def test_searches_are_in_the_cost_of_an_iteration():
    seconds = [0.1] * 40 + [0.1, 0.1, 0.1, 4.1] * 5
    found = cost([record("o", "bokern", 0, [1.0] * 60, cpu_seconds=seconds)])
    assert found.median == pytest.approx(1.1)
    assert found.maximum == 4.1
    assert cost([record("o", "bokern", 0, [1.0] * 49)]) is None
    long = [record("hartmann6", "bokern", 0, [1.0] * 50, cpu_seconds=[2.0] * 50)]
    six = part(long, "searches included")
    assert six.verdict == "not reached"
    assert "longest iteration 2" in six.measured


def test_real_tables_have_to_be_complete():
    records = [
        r
        for o in REAL_TABLES
        for m, end in (("bokern", 0.5), ("ax", 0.5))
        for r in ends(o, m, end)
    ]
    assert part(records, "real tables").verdict == "reached"
    some = [r for r in records if r["objective"] != "agnp"]
    assert part(some, "real tables").verdict == "not measured"
    assert part(some, "real tables").figure == pytest.approx(1.0)


def test_a_figure_that_equals_the_requirement_reaches_it():
    at = Part(1, "a", 0.9, 0.9, least=True, seeds=1, share=True)
    assert (at.verdict, at.measured, at.requirement) == ("reached", "90%", "≥ 90%")
    above = Part(1, "a", 1.21, 1.2, least=False, seeds=1)
    assert (above.verdict, above.requirement) == ("not reached", "≤ 1.2")


def test_the_report_has_goals_regrets_and_evaluations():
    records = [*ends("gramacy2d", "bokern", 0.0), *ends("gramacy2d", "ax", 0.2)]
    records += until("cyclic3_until", "ax", 7)
    text = markdown(records)
    assert "## Goals" in text
    assert "not measured" in text
    assert "| gramacy2d | bokern | 3 |" in text
    assert "| cyclic3_until | ax | 2 | 0 | 100% | 7 [7, 7] | 1 |" in text
    page = html(records)
    assert page.startswith("<!doctype html>")
    assert "<h2>Goals</h2>" in page
    assert "cyclic3_until" in page


def test_cells_are_escaped():
    cells = Cells("a < b", ["x"], [["1 < 2"]], "n & m")
    assert "<h2>a &lt; b</h2>" in cells.html()
    assert "<td>1 &lt; 2</td>" in cells.html()
    assert cells.markdown() == "## a < b\n\n| x |\n| --- |\n| 1 < 2 |\n\nn & m\n"
