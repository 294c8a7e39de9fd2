"""Data sets with their published splits of 90 % and 10 %."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.data import load_arrays

FILES = {
    "yacht": "uci/yacht.npz",
    "energy": "uci/energy.npz",
    "concrete": "uci/concrete.npz",
    "airfoil": "uci_dkl/airfoil.npz",
}
"""By rising size. Airfoil is centred by its source, so that its errors are not in
decibel; its splits are folds of ten, the others' are random tenths."""


@dataclass(frozen=True)
class Split:
    """Training and test data, float64, raw units.

    Args:
        X: ``n x d``.
        y: ``n``.
        X_test: ``m x d``.
        y_test: ``m``.
        names: Of the columns.
        repeated: How many test inputs are training inputs too.
    """

    X: Tensor
    y: Tensor
    X_test: Tensor
    y_test: Tensor
    names: tuple[str, ...]
    repeated: int

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The box of all inputs, those to be predicted included."""
        both = torch.cat([self.X, self.X_test])
        return list(zip(both.amin(0).tolist(), both.amax(0).tolist(), strict=True))


def load_split(name: str, number: int) -> Split:
    """One of the published splits, from 0.

    Args:
        name: A name of ``FILES``.
        number: Of the split.
    """
    arrays = load_arrays(FILES[name])
    X = torch.tensor(arrays["X"], dtype=torch.float64)
    y = torch.tensor(arrays["y"], dtype=torch.float64).flatten()
    if "test_mask" in arrays:
        test = torch.tensor(arrays["test_mask"][:, number]).bool()
    else:
        test = torch.tensor(arrays["fold"] == number)
    known = {tuple(row) for row in X[~test].tolist()}
    repeated = sum(tuple(row) in known for row in X[test].tolist())
    columns = tuple(f"x{j}" for j in range(X.shape[1]))
    names = tuple(map(str, arrays.get("feature_names", columns)))
    return Split(X[~test], y[~test], X[test], y[test], names, repeated)
