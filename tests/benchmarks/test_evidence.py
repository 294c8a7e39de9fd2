from __future__ import annotations

import pytest

from benchmarks.evidence import sampling, structures
from benchmarks.evidence.studies import STUDIES, Claim, StudyRun
from benchmarks.evidence.summary import summary


def record(study, best, flags=(), **gaps):
    return {
        "study": study,
        "best": best,
        "log_evidence": {"plain": -10.0, **{k: v - 10.0 for k, v in gaps.items()}},
        "flags": {"plain": [], "symmetric": list(flags)},
        "failures": [],
    }


def test_claims_are_met_at_their_limits():
    least = Claim("", bool, 19 / 20)
    assert least.met(19, 20)
    assert not least.met(18, 20)
    most = Claim("", bool, 4 / 32, at_most=True)
    assert most.met(4, 32)
    assert not most.met(5, 32)


def test_summary_counts_and_judges():
    runs = [record("symmetric", "symmetric", symmetric=g) for g in (1.0, 2.0, 6.0)]
    runs.append(record("plain", "symmetric", ["BLIND"], symmetric=0.5))
    text = summary(runs)
    assert "| symmetric | invariance preferred | 3 of 3 | ≥ 95.0% | yes |" in text
    assert "| plain | invariance preferred | 1 of 1 | ≤ 5.0% | NO |" in text
    assert "| plain | flagged BLIND | 1 of 1 | ≤ 0.0% | NO |" in text
    assert "symmetric 2.00 [1.00, 6.00]" in text


def test_a_nan_evidence_does_not_hide_the_others():
    runs = [
        record("warped", "warp", warp=3.0),
        record("warped", "plain", warp=float("nan")),
    ]
    assert "warp 3.00 [3.00, 3.00]" in summary(runs)


def test_each_study_claims_something():
    assert all(study.claims and study.seeds >= 10 for study in STUDIES.values())


def test_fresh_sets_are_fresh_and_of_every_size(monkeypatch):
    seen = []
    monkeypatch.setattr(
        structures,
        "compared",
        lambda sample, _, seed: seen.append((sample, seed)) or {},
    )
    study = STUDIES["fresh-stationary"]
    sizes = [study.run(seed)["n"] for seed in range(study.seeds)]
    assert {n: sizes.count(n) for n in sizes} == {20: 96, 40: 96, 80: 96}
    for n in structures.SIZES:
        study = STUDIES[f"fresh-warped-{n}"]
        assert {study.run(seed)["n"] for seed in range(study.seeds)} == {n}
    assert all(len(sample.X) in structures.SIZES for sample, _ in seen)
    assert min(seed for _, seed in seen) == 1000
    assert len({tuple(sample.y.tolist()) for sample, _ in seen}) == len(seen) == 432


def test_coverage_samples_both_structures(monkeypatch):
    monkeypatch.setattr(sampling, "SIZES", (6, 8, 10))
    monkeypatch.setattr(sampling, "REFERENCE_PARTICLES", 512)
    records = [StudyRun("smc-coverage", seed).execute() for seed in (0, 3)]
    assert [(r["kind"], r["n"]) for r in records] == [("stationary", 6), ("warped", 8)]
    text = summary(records)
    for name, k in (("plain", 4), ("warp", 6)):
        found = records[0]["sampled"][name]
        assert found["hyperparameters"] == k
        assert len(found["replicates"]) == 5
        assert found["reference"] == pytest.approx(found["value"], abs=0.5)
        assert f"interval of {name} covers the reference | 2 of 2" in text
        assert f"smc-coverage, {name}: Laplace − SMC" in text


def test_an_interval_that_misses():
    found = {"lower": -3.0, "upper": -2.0, "reference": -1.9}
    assert not sampling.covers("plain", {"sampled": {"plain": found}})
    found["reference"] = -2.1
    assert sampling.covers("plain", {"sampled": {"plain": found}})
