"""Structures of ours, all fitted by one call."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor

import bokern
from benchmarks.predictive import predict
from benchmarks.uci.fitted import Fitted

OPTIONS: dict[str, Any] = {"starts": 2}
"""Of `bokern.fit`, for every structure and data set."""


def fit_structure(X: Tensor, y: Tensor, seed: int, structure: str) -> Fitted:
    """`bokern.fit` of a structure, in the box of the training inputs.

    The fit runs to its own end: ``stopped_early`` is never true, and a fit that takes
    longer than the limit shows it by its seconds.
    """
    model = bokern.fit(structure, X, y, seed=seed, **OPTIONS)
    noise = model.likelihood.noise.detach().sqrt().item() * y.std().item()
    settings = {"structure": structure, **OPTIONS, "dtype": str(X.dtype)}
    return Fitted(partial(predict, model), noise, False, settings)
