"""Random splits of two thirds and one third, standardised by the training rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.uci.sources import SOURCES

LARGE = 10_000
"""With more rows to train on than this a data set is split once only."""


@dataclass(frozen=True)
class Split:
    """Training and test data, float64, with training columns of mean 0 and sd 1.

    Args:
        X: ``n x d``.
        y: ``n``.
        X_test: ``m x d``, by the training rows' means and sds.
        y_test: ``m``, by those of the training targets.
        repeated: How many test inputs are training inputs too.
    """

    X: Tensor
    y: Tensor
    X_test: Tensor
    y_test: Tensor
    repeated: int


def load_split(name: str, seed: int) -> Split:
    """A split of a seed.

    Columns that are constant in the training rows are dropped.

    Args:
        name: A name of ``SOURCES``.
        seed: Of the order of the rows, by a `torch.Generator` of its own.
    """
    X, y, groups = SOURCES[name].load()
    train = training_rows(groups, seed)
    known = {row.tobytes() for row in X[train]}
    repeated = sum(row.tobytes() in known for row in X[~train])
    X = X[:, np.ptp(X[train], axis=0) > 0.0]
    X = (X - X[train].mean(0)) / X[train].std(0, ddof=1)
    y = (y - y[train].mean()) / y[train].std(ddof=1)
    known_X, known_y = torch.from_numpy(X[train]), torch.from_numpy(y[train])
    X_test, y_test = torch.from_numpy(X[~train]), torch.from_numpy(y[~train])
    return Split(known_X, known_y, X_test, y_test, repeated)


def training_rows(groups: np.ndarray, seed: int) -> np.ndarray:
    """Whether each row is trained on, ``n``: whole groups in random order.

    Groups are taken until two thirds of the rows are reached.
    """
    labels, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=generator).numpy()
    before = np.cumsum(sizes[order]) - sizes[order]
    taken = np.zeros(len(labels), bool)
    taken[order] = before < _two_thirds(len(groups))
    return taken[index.reshape(-1)]


def seeds_of(name: str, seeds: int) -> range:
    """The seeds that a data set is run with: the first only, if it is large."""
    rows = len(SOURCES[name].load()[1])
    return range(min(seeds, 1) if _two_thirds(rows) > LARGE else seeds)


def _two_thirds(rows: int) -> int:
    return math.ceil(2 * rows / 3)
