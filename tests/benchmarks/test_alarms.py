from __future__ import annotations

import pytest
import torch

import bokern
from benchmarks.alarms.draws import PlainDraw
from benchmarks.alarms.run import AlarmRun, has_symmetry, has_warp, random_points
from benchmarks.alarms.summary import summary
from bokern.structures import parse


@pytest.mark.oracle
def test_a_draw_passes_through_its_values():
    problem = PlainDraw(1)
    K = problem._covariance(problem._X, problem._X)
    f = K @ problem._weights
    torch.testing.assert_close(problem.evaluate(problem._X), f)
    # f = L z with a standard normal z: its Mahalanobis length is that of z.
    length = (f @ problem._weights).item()
    assert 0.7 < length / len(f) < 1.3
    torch.testing.assert_close(PlainDraw(1).evaluate(problem._X[:3]), f[:3])
    assert not torch.allclose(PlainDraw(2).evaluate(problem._X[:3]), f[:3])


def test_the_optimum_is_the_least_known_value():
    problem = PlainDraw(0)
    at = torch.tensor(problem.optimizers, dtype=torch.float64)
    assert problem.evaluate(at).item() == pytest.approx(problem.optimum)
    assert problem.evaluate(random_points(0)).min() > problem.optimum - 0.5


@pytest.mark.parametrize(
    ("text", "symmetry", "warp"),
    [
        ("Matern(2.5)", False, False),
        ("Invariant(Matern(2.5), cyclic(3))", True, False),
        ("Matern(2.5) + Invariant(Matern(2.5), swap(0, 1))", True, False),
        ("Kumaraswamy(Matern(2.5), columns=[0])", False, True),
        ("Kumaraswamy(Invariant(RBF(), cyclic(3)))", True, True),
        ("DeepSE()", False, False),
    ],
)
def test_a_symmetric_or_warped_part_anywhere_counts(text, symmetry, warp):
    structure = parse(text).resolve(["x0", "x1", "x2"])
    assert has_symmetry(structure) is symmetry
    assert has_warp(structure) is warp


def test_a_run_searches_random_points(monkeypatch):
    def two(X, y, **options):
        assert X.shape == (30, 3)
        assert options["bounds"] == ((0.0, 1.0),) * 3
        structures = ["Matern(2.5)", "Invariant(Matern(2.5), swap(0, 1))"]
        return bokern.compare(structures, X, y, starts=2, **options)

    monkeypatch.setattr(bokern, "search", two, raising=False)
    found = AlarmRun("random", 0).execute()
    assert found["error"] is None
    assert found["probability"]["symmetry"] == pytest.approx(
        sum(p for text, _, p in found["ranked"] if "Invariant" in text)
    )
    assert found["probability"]["either"] == found["probability"]["symmetry"]
    evidences = dict(row[:2] for row in found["ranked"])
    lead = max(evidences.values()) - evidences["Matern(2.5)"]
    assert found["lead"] == pytest.approx(lead)
    mode = max(found["ranked"], key=lambda row: row[2])[0]
    assert found["mode"] == mode
    assert found["mode_unfounded"] == (["symmetry"] if "Inv" in mode else [])
    assert found["unfounded"] == (["symmetry"] if "Inv" in found["best"] else [])


def record(seed, unfounded=(), **changes):
    return {
        "key": f"random/{seed}",
        "design": "random",
        "seed": seed,
        "best": "Kumaraswamy(Matern(2.5))" if unfounded else "Matern(2.5)",
        "unfounded": list(unfounded),
        "mode": "Matern(2.5)",
        "mode_unfounded": [],
        "flags": [],
        "probability": {
            "either": 0.7 if unfounded else 0.3,
            "symmetry": 0.1,
            "warp": 0.6 if unfounded else 0.2,
        },
        "lead": 1.0,
        "ranked": [["Kumaraswamy(Matern(2.5))", 3.0, 0.6], ["Matern(2.5)", 2.0, 0.4]],
        "cpu_seconds": 2.0,
        "error": None,
        "versions": {},
    } | changes


def test_summary_counts_alarms_and_failures():
    runs = [record(s) for s in range(8)]
    runs += [record(8, ["warp"]), record(9, error="RuntimeError: no")]
    text = summary(runs)
    assert "| 2 of 10 (20%) | ≤ 10% | NO |" in text
    assert "- random/8: Kumaraswamy(Matern(2.5)), 1.0 nats ahead" in text
    assert text.count("| 2 of 10 (20%) | ≤ 10% | NO |") == 2
    assert "the most probable structure has one of them | 1 of 10 (10%)" in text
    assert "- random/9: failed" in text
    assert "warp: mean 0.24, above ½ in 1" in text
