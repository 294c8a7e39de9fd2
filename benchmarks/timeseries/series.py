"""Thirteen time series and their published splits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.data import load_arrays

FILE = "timeseries/tsdlr13.npz"

NAMES = (
    "airline",
    "solar",
    "mauna",
    "wheat",
    "temperature",
    "internet",
    "call_centre",
    "radio",
    "gas_production",
    "sulphuric",
    "unemployment",
    "births",
    "wages",
)
"""In the order of the published tables. The times of ``internet`` step back once and
eight of them repeat, as in the source; the splits go by the order of the file."""

TASKS = ("extrapolation", "interpolation")


@dataclass(frozen=True)
class Series:
    """Training and test data, float64, raw units.

    Args:
        X: Times, ``n x 1``.
        y: ``n``.
        X_test: ``m x 1``.
        y_test: ``m``.
    """

    X: Tensor
    y: Tensor
    X_test: Tensor
    y_test: Tensor

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """First and last time, those to be predicted included: they are known."""
        both = torch.cat([self.X, self.X_test])
        return [(float(both.min()), float(both.max()))]


def load_series(name: str, task: str) -> Series:
    """A series, split as published.

    Args:
        name: One of ``NAMES``.
        task: ``"extrapolation"``, the first 90 % train; ``"interpolation"``, a random
            half trains.
    """
    arrays = load_arrays(FILE)
    X = torch.tensor(arrays[f"{name}_X"], dtype=torch.float64).reshape(-1, 1)
    y = torch.tensor(arrays[f"{name}_y"], dtype=torch.float64).flatten()
    if task == "extrapolation":
        test = torch.arange(len(y)) >= int(arrays[f"{name}_ntrain9010"])
    else:
        test = torch.tensor(arrays[f"{name}_test5050"]).bool().flatten()
    return Series(X[~test], y[~test], X[test], y[test])
