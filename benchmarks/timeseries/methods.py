"""Methods that fit a series and return a model, and what they found."""

from __future__ import annotations

from collections.abc import Callable

from botorch.models.model import Model

import bokern
from benchmarks.tasks import Record
from benchmarks.timeseries.series import Series
from benchmarks.timeseries.spectral import fit_spectral

Method = Callable[[Series, int], tuple[Model, Record]]


def fit_search(series: Series, seed: int) -> tuple[Model, Record]:
    """`bokern.search` as it comes, the outcome's transform chosen too, averaged."""
    found = bokern.search(
        series.X,
        series.y,
        bounds=series.bounds,
        outcome="auto",
        seed=seed,
        progress=False,
    )
    top = found.candidates[:5]
    record = {
        "best": str(found.best),
        "flags": list(found.candidates[0].evidence.flags),
        "log_evidence": {str(c.structure): c.evidence.log_evidence for c in top},
        "notes": list(found.notes),
        "candidates": len(found.candidates),
        "failures": [list(failure) for failure in found.failures],
    }
    return found.model(average=True), record


def _fit_one(structure: str) -> Method:
    def fit(series: Series, seed: int) -> tuple[Model, Record]:
        model = bokern.fit(
            structure, series.X, series.y, bounds=series.bounds, seed=seed
        )
        return model, {"best": structure}

    return fit


METHODS: dict[str, Method] = {
    "search": fit_search,
    "SE": _fit_one("RBF()"),
    "linear": _fit_one("Linear()"),
    "SE[SE]": _fit_one("DeepSE()"),
    "spectral": fit_spectral,
}
"""`bokern.fit` by MAP but for the search and the spectral mixture."""
