"""The studies by name, with their seeds and what each must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.evidence import airline, sampling, structures
from benchmarks.tasks import Record


@dataclass(frozen=True)
class Claim:
    """A share of the runs in which something holds, and the share required.

    Args:
        text: What is counted.
        holds: Whether it holds in a run.
        share: The share required.
        at_most: Whether the share is an upper rather than a lower limit.
    """

    text: str
    holds: Callable[[Record], bool]
    share: float
    at_most: bool = False

    def met(self, count: int, runs: int) -> bool:
        """Whether a count of the runs meets the claim."""
        if self.at_most:
            return count <= self.share * runs + 1e-9
        return count >= self.share * runs - 1e-9


@dataclass(frozen=True)
class Study:
    """What is run for each seed, how often, and what is claimed of it.

    Args:
        run: Takes a seed.
        seeds: How many, from 0.
        claims: What must hold.
        is_long: Whether it takes more than minutes, and so runs only when named.
    """

    run: Callable[[int], Record]
    seeds: int
    claims: tuple[Claim, ...]
    is_long: bool = False


def _picks(name: str, record: Record) -> bool:
    return bool(record["best"] == name)


def _is_blind(record: Record) -> bool:
    return "BLIND" in record["flags"].get("symmetric", ())


def _reaches(name: str, record: Record) -> bool:
    return bool(record["log_likelihood"][name] >= airline.TARGETS[name])


STUDIES = {
    "airline": Study(
        airline.airline,
        10,
        tuple(
            Claim(f"{name} reaches {target} nats", partial(_reaches, name), 0.9)
            for name, target in airline.TARGETS.items()
        ),
    ),
    "symmetric": Study(
        structures.symmetric,
        20,
        (
            Claim("invariance preferred", partial(_picks, "symmetric"), 19 / 20),
            Claim("flagged BLIND", _is_blind, 0.0, at_most=True),
        ),
    ),
    "plain": Study(
        structures.plain,
        20,
        (
            Claim("invariance preferred", partial(_picks, "symmetric"), 1 / 20, True),
            Claim("flagged BLIND", _is_blind, 0.0, at_most=True),
        ),
    ),
    "blind": Study(structures.blind, 20, (Claim("flagged BLIND", _is_blind, 1.0),)),
    "blind-plain": Study(
        structures.blind_plain, 20, (Claim("flagged BLIND", _is_blind, 1.0),)
    ),
    "nearly-symmetric": Study(
        structures.nearly_symmetric,
        20,
        (Claim("symmetric + plain preferred", partial(_picks, "both"), 17 / 20),),
    ),
    "stationary": Study(
        structures.stationary,
        32,
        (Claim("warp picked", partial(_picks, "warp"), 4 / 32, at_most=True),),
    ),
    "warped": Study(
        structures.warped,
        32,
        (Claim("warp picked", partial(_picks, "warp"), 0.85),),
    ),
    "fresh-stationary": Study(
        structures.fresh_stationary,
        96 * len(structures.SIZES),
        (Claim("warp picked", partial(_picks, "warp"), 0.06, at_most=True),),
        is_long=True,
    ),
    **{
        f"fresh-warped-{n}": Study(
            partial(structures.fresh_warped, n=n),
            48,
            (Claim("warp picked", partial(_picks, "warp"), share),),
            is_long=True,
        )
        for n, share in zip(structures.SIZES, (0.85, 0.92, 0.92), strict=True)
    },
    "smc-coverage": Study(
        sampling.coverage,
        40,
        tuple(
            Claim(
                f"interval of {name} covers the reference",
                partial(sampling.covers, name),
                0.9,
            )
            for name in sampling.STRUCTURES
        ),
        is_long=True,
    ),
}


@dataclass(frozen=True)
class StudyRun:
    """One seed of a study; can be pickled, and names itself."""

    study: str
    seed: int

    @property
    def key(self) -> str:
        """Study and seed."""
        return f"{self.study}/{self.seed}"

    def execute(self) -> Record:
        """Runs the study's function on this seed."""
        result = STUDIES[self.study].run(self.seed)
        return {"study": self.study, "seed": self.seed, **result}
