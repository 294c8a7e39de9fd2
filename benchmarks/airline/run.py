"""One run: SE × periodic + SE + RQ on the first 96 airline months, one seed."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

import bokern
from benchmarks.attempt import attempt
from benchmarks.evidence.airline import MONTHS, STRUCTURES, log_likelihood
from benchmarks.tasks import Record
from bokern.data import airline_path
from bokern.structures import parse

MIXTURE = STRUCTURES["SE × periodic + SE + RQ"]
METHODS = ("search", "fit", "fit-ml")
SCALES = ("raw", "log")


@dataclass(frozen=True)
class AirlineRun:
    """A run that can be pickled and that names itself.

    Args:
        method: ``"search"``, among the structures of `benchmarks.evidence.airline`;
            ``"fit"``, the mixture by MAP; ``"fit-ml"``, by type-II maximum likelihood.
        scale: Passengers, ``"raw"``, or their logarithms, ``"log"``.
        seed: Of the starts.
    """

    method: str
    scale: str
    seed: int

    @property
    def key(self) -> str:
        """Method, scale and seed."""
        return f"{self.method}/{self.scale}/{self.seed}"

    def execute(self) -> Record:
        """Records the objective that the mixture reaches, or the failure."""
        return {
            "method": self.method,
            "scale": self.scale,
            "seed": self.seed,
            **attempt(self._work),
        }

    def _work(self) -> Record:
        X, z = months(self.scale)
        options: dict[str, Any] = {
            "mean": "zero",
            "standardize": False,
            "seed": self.seed,
        }
        if self.method == "search":
            found = bokern.search(
                X, z, list(STRUCTURES.values()), progress=False, **options
            )
            wanted = parse(MIXTURE).resolve(found.column_names)
            own = [
                c
                for c in found.candidates
                if c.structure.resolve(found.column_names) == wanted
            ]
            if not own:
                raise LookupError(f"{MIXTURE} was given up: {found.failures}")
            fit = own[0].fit
            extra = {"best": str(found.best), "flags": list(own[0].evidence.flags)}
            return {"reached": fit.objective, "evaluations": fit.evaluations, **extra}
        objective = "ml" if self.method == "fit-ml" else "map"
        model = bokern.fit(MIXTURE, X, z, objective=objective, **options)
        assert model.fit_result is not None
        evaluations = model.fit_result.evaluations
        reached = model.fit_result.objective
        if self.method == "fit-ml":
            reached = log_likelihood(model, z)
        return {"reached": reached, "evaluations": evaluations}


def months(scale: str) -> tuple[Tensor, Tensor]:
    """The first months: decimal years, and targets z-scored by the whole series."""
    with airline_path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    X = torch.tensor([[float(r["decimal_year"])] for r in rows], dtype=torch.float64)
    y = torch.tensor(
        [float(r["passengers_thousands"]) for r in rows], dtype=torch.float64
    )
    y = y.log() if scale == "log" else y
    z = (y - y.mean()) / y.std(correction=0)
    return X[:MONTHS], z[:MONTHS]
