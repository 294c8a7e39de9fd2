"""Tables by name, and what of them is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.data import load_arrays

Groups = Callable[[np.ndarray], np.ndarray]
"""From all columns, ``n x d``, to what must stay on one side of a split, ``n``."""


def by_inputs(X: np.ndarray) -> np.ndarray:
    """Rows of identical inputs are one group."""
    return np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)


def by_first_column(X: np.ndarray) -> np.ndarray:
    """Rows that share the first column, a subject's number, are one group."""
    return np.unique(X[:, 0], return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True)
class Source:
    """Where a data set lies.

    Args:
        file: Path in the data folder.
        columns: The first and the one past the last that are inputs; None for all.
        groups: Rows that must not be parted; None parts all.
        leaky: Whether the array ``leaky`` is appended, which holds the answer.
        log: Whether the target is log(1 + y).
    """

    file: str
    columns: tuple[int, int] | None = None
    groups: Groups | None = None
    leaky: bool = False
    log: bool = False

    def load(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs ``n x d``, targets ``n`` and the groups of the rows ``n``."""
        arrays = load_arrays(self.file)
        every = arrays["X"].astype(np.float64)
        y = arrays["y"].astype(np.float64).reshape(-1)
        groups = np.arange(len(y)) if self.groups is None else self.groups(every)
        X = every[:, slice(*(self.columns or (None,)))]
        if self.leaky:
            X = np.hstack([X, arrays["leaky"].astype(np.float64)])
        return X, np.log1p(y) if self.log else y, groups


VOICE = (4, 20)
"""Of parkinsons: without the subject, age, sex and time, which tell the subject."""

SOURCES = {
    "yacht": Source("uci_dkl/yacht.npz"),
    "energy": Source("uci_dkl/energy.npz"),
    "concrete": Source("uci_dkl/concrete.npz"),
    "concrete-grouped": Source("uci_dkl/concrete.npz", groups=by_inputs),
    "airfoil": Source("uci_dkl/airfoil.npz"),
    "parkinsons": Source("uci/parkinsons.npz", VOICE),
    "parkinsons-by-subject": Source("uci/parkinsons.npz", VOICE, by_first_column),
    "pol": Source("uci_dkl/pol.npz"),
    "elevators": Source("uci_dkl/elevators.npz"),
    "bikeshare": Source("uci/bike_hour.npz"),
    "bikeshare-leaky": Source("uci/bike_hour.npz", leaky=True),
    "kin40k": Source("uci_dkl/kin40k.npz"),
    "protein": Source("uci/protein.npz", log=True),
}
"""By rising size. Protein's target is log(1 + y) as in the loader of [SSWIM]; that of
yacht is logarithmic in its file. Only bikeshare-leaky holds the counts of casual and
registered users, whose sum is the target, as the table of [SSWIM] does."""

RANKED = tuple(
    name
    for name in SOURCES
    if name not in ("concrete-grouped", "parkinsons-by-subject", "bikeshare-leaky")
)
"""Each table once, without the one that holds the answer."""

HONEST = tuple(name for name in SOURCES if name != "bikeshare-leaky")
