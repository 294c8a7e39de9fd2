from __future__ import annotations

from benchmarks.evidence.studies import STUDIES, Claim
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
