"""GPyTorch's own numerics, which importing BoTorch turns off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import gpytorch

MOST_FACTORISED = 100
"""Matrices of more rows are solved by their structure, or by conjugate gradients: made
dense, those of a grid take ten times as long."""


@contextmanager
def structured() -> Iterator[None]:
    """Covariances of low rank or of a grid are used as such, never made ``n x n``.

    BoTorch has every log density by a dense Cholesky factor, with which 30 000 rows
    take more than 20 GB.
    """
    with ExitStack() as stack:
        stack.enter_context(gpytorch.settings.fast_computations())
        stack.enter_context(gpytorch.settings.max_cholesky_size(MOST_FACTORISED))
        stack.enter_context(gpytorch.settings.use_toeplitz(False))
        yield
