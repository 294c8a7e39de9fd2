"""Data sets of known structure: which structure does the evidence prefer?"""

from __future__ import annotations

import time
from functools import partial

import bokern
from benchmarks.tasks import Record
from bokern.problems import Sample, stationary_sample, swap_sample, warped_sample
from bokern.structures import parse

PLAIN = "Matern(2.5)"
WARP = "Kumaraswamy(Matern(2.5))"
SMOOTH = "RBF()"
SWAP = "Invariant(RBF(), swap(0, 1))"
BOTH = f"{SWAP} + {SMOOTH}"

SIZES = (20, 40, 80)
FRESH = 1000
"""First seed of sets that no default was tuned on."""


def compared(sample: Sample, structures: dict[str, str], seed: int) -> Record:
    """Compares structures, and records what each got and which is best.

    Args:
        sample: The data.
        structures: Texts, by the short names that the record uses.
        seed: Of the comparison.
    """
    began = time.process_time()
    comparison = bokern.compare(
        list(structures.values()),
        sample.X,
        sample.y,
        bounds=sample.bounds,
        seed=seed,
        progress=False,
    )
    names = {
        parse(text).resolve(comparison.column_names): name
        for name, text in structures.items()
    }
    ranked = [names[s.resolve(comparison.column_names)] for s in comparison.structures]
    pairs = list(zip(ranked, comparison.evidences, strict=True))
    return {
        "best": ranked[0],
        "log_evidence": {name: e.log_evidence for name, e in pairs},
        "flags": {name: list(e.flags) for name, e in pairs},
        "gradient_norm": {name: e.gradient_norm for name, e in pairs},
        "failures": [list(failure) for failure in comparison.failures],
        "cpu_seconds": time.process_time() - began,
    }


def stationary(seed: int, n: int = 40) -> Record:
    """A Matérn function of one input: a warp would be wrong."""
    sample = stationary_sample(n, seed)
    return compared(sample, {"plain": PLAIN, "warp": WARP}, seed)


def warped(seed: int, n: int = 40) -> Record:
    """A Matérn function of a Kumaraswamy-warped input."""
    sample = warped_sample(n, seed)
    return compared(sample, {"plain": PLAIN, "warp": WARP}, seed)


def fresh_stationary(seed: int) -> Record:
    """The same of fresh seeds, each at all sizes in turn."""
    n = SIZES[seed % len(SIZES)]
    return {"n": n, **stationary(FRESH + seed // len(SIZES), n)}


def fresh_warped(seed: int, n: int) -> Record:
    """The same of fresh seeds."""
    return {"n": n, **warped(FRESH + seed, n)}


def symmetric(
    seed: int, n: int = 30, share: float = 1.0, blind: bool = False
) -> Record:
    """A function of two inputs: symmetric, plain, or seen by a blind design."""
    sample = swap_sample(n, seed, symmetric_share=share, blind=blind)
    return compared(sample, {"plain": SMOOTH, "symmetric": SWAP}, seed)


plain = partial(symmetric, share=0.0)
blind = partial(symmetric, blind=True)
blind_plain = partial(symmetric, share=0.0, blind=True)


def nearly_symmetric(seed: int) -> Record:
    """90 % of the variance is symmetric: the sum of both is the truth."""
    sample = swap_sample(60, seed, symmetric_share=0.9)
    return compared(sample, {"plain": SMOOTH, "symmetric": SWAP, "both": BOTH}, seed)
