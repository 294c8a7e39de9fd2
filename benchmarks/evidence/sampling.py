"""Do the intervals of sampled evidence cover what ten times the particles find?"""

from __future__ import annotations

import time
from typing import Any

import bokern
from benchmarks.evidence.structures import FRESH, PLAIN, SIZES, WARP
from benchmarks.tasks import Record
from bokern.evidence import laplace, run_smc
from bokern.evidence.smc import PARTICLES, combined
from bokern.problems import Sample, stationary_sample, warped_sample

REFERENCE_PARTICLES = 10 * PARTICLES
REFERENCE_SEED = 10_000
"""Added to the seed of a run, so that its reference shares no draw with it."""

STRUCTURES = {"plain": PLAIN, "warp": WARP}


def coverage(seed: int) -> Record:
    """Both structures on one of the fresh sets of the warp study, sampled twice.

    Stationary and warped sets in turn, of each size in turn.
    """
    n = SIZES[seed // 2 % len(SIZES)]
    kind = ("stationary", "warped")[seed % 2]
    draw = warped_sample if seed % 2 else stationary_sample
    sample = draw(n, FRESH + seed)
    sampled = {name: _sampled(text, sample, seed) for name, text in STRUCTURES.items()}
    values = {name: found["value"] for name, found in sampled.items()}
    return {
        "n": n,
        "kind": kind,
        "best": max(values, key=lambda name: values[name]),
        "log_evidence": values,
        "flags": {name: found["flags"] for name, found in sampled.items()},
        "sampled": sampled,
    }


def _sampled(structure: str, sample: Sample, seed: int) -> dict[str, Any]:
    model = bokern.fit(structure, sample.X, sample.y, bounds=sample.bounds, seed=seed)
    fitted = laplace(model)
    began = time.process_time()
    result = run_smc(model, seed=seed, fitted=fitted)
    middle = time.process_time()
    reference = run_smc(
        model,
        particles=REFERENCE_PARTICLES,
        seed=REFERENCE_SEED + seed,
        fitted=fitted,
    )
    return {
        "value": result.evidence.log_evidence,
        "lower": result.evidence.lower,
        "upper": result.evidence.upper,
        "replicates": result.run.log_evidence,
        "reference": reference.evidence.log_evidence,
        "reference_error": combined(reference.run.log_evidence)[1],
        "laplace": fitted.log_evidence,
        "hyperparameters": fitted.n_hyperparameters,
        "evaluations": result.run.evaluations,
        "cpu_seconds": middle - began,
        "reference_cpu_seconds": time.process_time() - middle,
        "flags": list(result.evidence.flags),
    }


def covers(name: str, record: Record) -> bool:
    """Whether the interval of one structure holds the reference."""
    found = record["sampled"][name]
    return bool(found["lower"] <= found["reference"] <= found["upper"])
