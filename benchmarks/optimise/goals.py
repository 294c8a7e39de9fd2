"""The seven goals of the benchmark, and how far the default configuration is."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from benchmarks.optimise.cost import cost
from benchmarks.optimise.objectives import CONTROLS, NONSTATIONARY, OBJECTIVES
from benchmarks.optimise.part import Part
from benchmarks.optimise.real_tables import REAL_TABLES
from benchmarks.optimise.table import (
    REFERENCE,
    Pair,
    evaluations,
    paired,
    regret_ratio,
    simple_regret,
)
from benchmarks.optimise.until import fewer
from benchmarks.tasks import Record

OURS, KNOWN, PLAIN = "bokern", "bokern-known", "bokern-plain"
UNTIL = ("cyclic3_until", "permutation6_until")
LARGE_GROUP = ("permutation6", "permutation6_until")


def goals(records: list[Record]) -> list[Part]:
    """All requirements in the order of the goals."""
    return [
        _both_gramacy(records),
        _nonstationary(records),
        _best_peer(records),
        _no_harm(records),
        _fewer_evaluations(records),
        _large_group(records),
        _right_group(records, "cyclic3", 0.7),
        _right_group(records, "cyclic3_60", 0.9),
        _false_alarms(records),
        _unknown_against_known(records),
        _needless_search(records),
        _cost(records),
        _real_tables(records),
    ]


def _both_gramacy(records: list[Record]) -> Part:
    runs = {o: _runs(records, o, OURS) for o in ("gramacy_lee", "gramacy2d")}
    shares = {
        o: float(np.mean([simple_regret(r)[-1] < r["threshold"] for r in rs]))
        for o, rs in runs.items()
        if rs
    }
    return Part(
        1,
        "seeds solved on each of the Gramacy problems",
        min(shares.values(), default=math.nan),
        0.9,
        least=True,
        seeds=_fewest(runs.values()),
        complete=len(shares) == len(runs),
        detail=", ".join(f"{o} {share:.0%}" for o, share in shares.items()),
        share=True,
    )


def _nonstationary(records: list[Record]) -> Part:
    return _overall(
        2, "regret ÷ Ax's, nonstationary set together", records, NONSTATIONARY, 0.5
    )


def _best_peer(records: list[Record]) -> Part:
    """The regret beside the peer that does best, on the objective where it is worst."""
    methods = dict.fromkeys(r["method"] for r in records)
    peers = [m for m in methods if not m.startswith("bokern")]
    found: dict[str, tuple[float, str]] = {}
    seeds = []
    for objective in NONSTATIONARY:
        pairs = {p: paired(records, objective, OURS, p) for p in peers}
        ratios = [(regret_ratio(ps), p) for p, ps in pairs.items() if ps]
        if ratios:
            found[objective] = max(ratios)
            seeds.append(_fewest(ps for ps in pairs.values() if ps))
    listed = [f"{o} {ratio:.3g} of {peer}" for o, (ratio, peer) in found.items()]
    return Part(
        2,
        "regret ÷ the best peer's, each of that set",
        max((ratio for ratio, _ in found.values()), default=math.nan),
        1.0,
        least=False,
        seeds=min(seeds, default=0),
        complete=len(found) == len(NONSTATIONARY),
        detail=", ".join(listed),
    )


def _no_harm(records: list[Record]) -> Part:
    return _each(3, "regret ÷ Ax's, each stationary control", records, REFERENCE, 1.2)


def _fewer_evaluations(records: list[Record]) -> Part:
    pairs = {o: paired(records, o, REFERENCE, KNOWN) for o in UNTIL}
    return Part(
        4,
        "evaluations of Ax to 90 % of the best ÷ ours with a known group",
        min((fewer(ps) for ps in pairs.values() if ps), default=math.nan),
        5.0,
        least=True,
        seeds=_fewest(pairs.values()),
        complete=all(pairs.values()),
        detail=", ".join(_counted(o, ps) for o, ps in pairs.items() if ps),
    )


def _large_group(records: list[Record]) -> Part:
    return _seconds(
        4,
        "CPU s per iteration at 50 observations, a known group of 720 elements",
        [r for o in LARGE_GROUP for r in _runs(records, o, KNOWN)],
    )


def _right_group(records: list[Record], objective: str, required: float) -> Part:
    runs = [r for r in _runs(records, objective, OURS) if r["error"] or _asked(r)]
    right = [_asked(r) and bool(r["found"]["right_group"]) for r in runs]
    budget = OBJECTIVES[objective].budget
    return Part(
        5,
        f"runs whose best structure has the right group after {budget} evaluations",
        float(np.mean(right)) if runs else math.nan,
        required,
        least=True,
        seeds=len(runs),
        share=True,
    )


def _false_alarms(records: list[Record]) -> Part:
    runs = {o: _runs(records, o, OURS) for o in CONTROLS}
    alarms = [
        (r["found"] or {}).get("invariant", 0.0) > 0.5
        for rs in runs.values()
        for r in rs
    ]
    return Part(
        5,
        "runs on the controls in which a symmetry is more probable than not",
        float(np.mean(alarms)) if alarms else math.nan,
        0.1,
        least=False,
        seeds=_fewest(runs.values()),
        complete=all(runs.values()),
        share=True,
    )


def _unknown_against_known(records: list[Record]) -> Part:
    pairs = {o: paired(records, o, OURS, KNOWN) for o in UNTIL}
    return Part(
        5,
        "evaluations to 90 % of the best ÷ those with a known group",
        max((fewer(ps) for ps in pairs.values() if ps), default=math.nan),
        2.0,
        least=False,
        seeds=_fewest(pairs.values()),
        complete=all(pairs.values()),
        detail=", ".join(_counted(o, ps) for o, ps in pairs.items() if ps),
    )


def _needless_search(records: list[Record]) -> Part:
    return _each(
        5, "regret ÷ that of Matérn-5/2 alone, each control", records, PLAIN, 1.2
    )


def _cost(records: list[Record]) -> Part:
    return _seconds(
        6,
        "CPU s per iteration at 50 observations, searches included",
        [r for r in records if r["method"] == OURS],
    )


def _real_tables(records: list[Record]) -> Part:
    return _overall(
        7, "regret ÷ Ax's, real tables together", records, tuple(REAL_TABLES), 1.0
    )


def _overall(
    number: int,
    goal: str,
    records: list[Record],
    objectives: tuple[str, ...],
    required: float,
) -> Part:
    """Geometric mean over objectives of the regret over Ax's."""
    pairs = {o: paired(records, o, OURS, REFERENCE) for o in objectives}
    ratios = {o: regret_ratio(ps) for o, ps in pairs.items() if ps}
    logs = [math.log(ratio) for ratio in ratios.values()]
    return Part(
        number,
        goal,
        math.exp(sum(logs) / len(logs)) if logs else math.nan,
        required,
        least=False,
        seeds=_fewest(pairs.values()),
        complete=len(ratios) == len(objectives),
        detail=", ".join(f"{o} {ratio:.3g}" for o, ratio in ratios.items()),
    )


def _each(
    number: int, goal: str, records: list[Record], other: str, required: float
) -> Part:
    """The largest regret over that of another method, of any control."""
    pairs = {o: paired(records, o, OURS, other) for o in CONTROLS}
    ratios = {o: regret_ratio(ps) for o, ps in pairs.items() if ps}
    return Part(
        number,
        goal,
        max(ratios.values(), default=math.nan),
        required,
        least=False,
        seeds=_fewest(pairs.values()),
        complete=len(ratios) == len(CONTROLS),
        detail=", ".join(f"{o} {ratio:.3g}" for o, ratio in ratios.items()),
    )


def _seconds(number: int, goal: str, runs: list[Record]) -> Part:
    found = cost(runs)
    if found is None:
        return Part(number, goal, math.nan, 1.5, least=False, seeds=0)
    return Part(
        number,
        goal,
        found.median,
        1.5,
        least=False,
        seeds=found.seeds,
        detail=f"median of {found.runs} runs; longest iteration {found.maximum:.3g}",
    )


def _counted(objective: str, pairs: list[Pair]) -> str:
    medians = [float(np.median([evaluations(p[k]) for p in pairs])) for k in (0, 1)]
    ratio = fewer(pairs)
    return f"{objective} {ratio:.3g}, medians {medians[0]:g} and {medians[1]:g}"


def _asked(record: Record) -> bool:
    return "right_group" in (record["found"] or {})


def _runs(records: list[Record], objective: str, method: str) -> list[Record]:
    return [r for r in records if (r["objective"], r["method"]) == (objective, method)]


def _fewest(groups: Iterable[list[Record] | list[Pair]]) -> int:
    """Members of the smallest group that has any; 0 without one."""
    return min((len(group) for group in groups if group), default=0)
