"""What is minimised, for how long, and what counts as solved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from benchmarks.optimise.real_table import RealTable
from benchmarks.optimise.real_tables import REAL_TABLES, real_table
from benchmarks.optimise.svc import BreastCancerSVC
from benchmarks.optimise.target import Target
from bokern.problems import (
    Ackley5,
    Branin,
    Bukin6,
    Gramacy2D,
    GramacyLee,
    Hartmann6,
    InvariantDraw,
    Michalewicz5,
    Pack5,
    Xiong,
)
from bokern.views import permutations

INVARIANCE_METHODS = ("ax", "bokern", "bokern-known")
"""What runs by default where only the number of evaluations is asked for."""


@dataclass(frozen=True)
class Objective:
    """An objective of the benchmark.

    Args:
        problem: Makes the problem of a seed; draws are another function each seed.
        budget: Evaluations, the initial ones included.
        threshold: The regret below which a run on a problem is solved.
        has_group: Whether the problem is invariant under a group that can be named.
        has_kinds: Whether an unordered parameter has more than two values.
        ends_when_solved: Whether a run ends there, its evaluations being counted.
        methods: Run when no methods are named; None for all.
        files: Needed, in the data folder.
    """

    problem: Callable[[int], Target]
    budget: int
    threshold: Callable[[Target], float]
    has_group: bool = False
    has_kinds: bool = False
    ends_when_solved: bool = False
    methods: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()


def below(regret: float) -> Callable[[Target], float]:
    """The same regret for every problem."""
    return lambda problem: regret


def tenth_of_depth(problem: Target) -> float:
    """A tenth of the way from the prior mean of a draw, 0, to its minimum."""
    return 0.1 * abs(problem.optimum)


def best_percent(problem: Target) -> float:
    """The best hundredth of the designs of a table."""
    assert isinstance(problem, RealTable)
    return problem.best_percent


def _cyclic(seed: int) -> InvariantDraw:
    return InvariantDraw(seed=seed)


# Its minimum takes a minute: methods that follow one another share it.
@lru_cache(maxsize=2)
def _interchangeable(seed: int) -> InvariantDraw:
    return InvariantDraw(permutations(6), dim=6, lengthscale=0.3, seed=seed)


def _draw(
    problem: Callable[[int], Target],
    budget: int,
    methods: tuple[str, ...] | None = None,
    ends_when_solved: bool = False,
) -> Objective:
    return Objective(
        problem,
        budget,
        tenth_of_depth,
        has_group=True,
        ends_when_solved=ends_when_solved,
        methods=methods,
    )


def _real(name: str, budget: int) -> Objective:
    return Objective(
        partial(real_table, name),
        budget,
        best_percent,
        has_kinds=name == "nasbench201_cifar10",
        files=REAL_TABLES[name].files,
    )


OBJECTIVES = {
    "branin": Objective(lambda _: Branin(), 30, below(0.01)),
    "gramacy2d": Objective(lambda _: Gramacy2D(), 30, below(0.01)),
    "gramacy_lee": Objective(lambda _: GramacyLee(), 20, below(0.02)),
    "cyclic3": _draw(_cyclic, 30),
    "cyclic3_normalised": _draw(lambda s: InvariantDraw(seed=s, normalised=True), 30),
    "xiong": Objective(lambda _: Xiong(), 20, below(0.01)),
    "bukin6": Objective(lambda _: Bukin6(), 30, below(1.0)),
    "michalewicz5": Objective(lambda _: Michalewicz5(), 30, below(0.5)),
    "hartmann6": Objective(lambda _: Hartmann6(), 50, below(0.1)),
    "ackley5": Objective(lambda _: Ackley5(), 30, below(5.0)),
    "svc": Objective(lambda _: BreastCancerSVC(), 30, below(0.01)),
    "pack5": Objective(lambda _: Pack5(), 50, below(0.1)),
    "permutation6": _draw(_interchangeable, 50),
    "cyclic3_60": _draw(_cyclic, 60, INVARIANCE_METHODS),
    "cyclic3_until": _draw(_cyclic, 150, INVARIANCE_METHODS, ends_when_solved=True),
    "permutation6_until": _draw(
        _interchangeable, 250, INVARIANCE_METHODS, ends_when_solved=True
    ),
    "agnp": _real("agnp", 30),
    "autoam": _real("autoam", 30),
    "crossed_barrel": _real("crossed_barrel", 30),
    "p3ht_cnt": _real("p3ht_cnt", 30),
    "perovskite": _real("perovskite", 30),
    "hpobench_australian": _real("hpobench_australian", 30),
    "hpolib_naval": _real("hpolib_naval", 50),
    "nasbench201_cifar10": _real("nasbench201_cifar10", 50),
}

SUITES = {
    "small": ("branin", "gramacy2d", "gramacy_lee", "cyclic3"),
    "full": tuple(OBJECTIVES),
}
CONTROLS = ("branin", "hartmann6")
"""Stationary, and invariant under nothing."""
NONSTATIONARY = (
    "gramacy_lee",
    "xiong",
    "gramacy2d",
    "michalewicz5",
    "bukin6",
    "svc",
)
