"""Warnings of the libraries below that a node acts on rather than passes on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from botorch.exceptions.warnings import BotorchWarning
from linear_operator.utils.warnings import NumericalWarning


@contextmanager
def without_library_warnings() -> Iterator[None]:
    """Hides retried factorisations and restarted acquisition optimisers.

    BoTorch retries both by itself. What is left after that raises an error, which the
    node records and announces. Nor does it help to hear at each trial that objectives
    have no thresholds, or how Ax and BoTorch copy tensors and hand options to SciPy.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        warnings.simplefilter("ignore", BotorchWarning)
        warnings.filterwarnings("ignore", "Optimization failed", RuntimeWarning)
        # Options of the walk, and those of BoTorch's turns between kinds.
        warnings.filterwarnings("ignore", "Unknown solver options: (n_thinning|tol)")
        warnings.filterwarnings("ignore", ".*MultiObjective. without objective thresh")
        warnings.filterwarnings("ignore", "To copy construct from a tensor")
        yield
