"""Periodic functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import ColumnKernel, Columns
from bokern.kernels.periodogram import likely_periods

QUANTILES = 512
"""Of likely periods."""


class PeriodicKernel(ColumnKernel):
    r"""Periodic functions of each column, multiplied; of variance 1.

    $$k(x, x') = \exp\Big(-2 \sum_j \sin^2(\pi (x_j - x'_j) / p_j) / \ell_j^2\Big)$$

    The lengthscale is MacKay's; GPyTorch's is its square.
    Valid for: any d >= 1, as a product of one-dimensional kernels.
    Cost: O(n m d) time and memory.

    References:
        [GPML] eq. 4.31
    """

    is_stationary = True

    def __init__(self, columns: Columns, batch_shape: Sequence[int] = ()) -> None:
        super().__init__(columns, hyperpriors.periodic_lengthscale(), 1.0, batch_shape)
        shape = (1, columns.num_slots)
        self.register_hyperparameter("period", shape, hyperpriors.period())
        self.initialize_hyperparameter("period", 0.3)

    @property
    def period(self) -> Tensor:
        """Periods, ``batch x 1 x columns``, in units of the box."""
        return self.columns.spread(self.hyperparameter("period"))

    def likely_values(self, X: Tensor, z: Tensor) -> dict[str, Tensor]:
        """Logarithms of periods of which the data of one column show the power.

        A likelihood has a narrow peak at each: among draws of a wide prior, none is
        near that of 40 cycles.
        """
        if X.shape[-1] > 1:
            return {}
        return {"raw_period": likely_periods(X[..., 0], z, QUANTILES).log()}

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations, from lengthscales in units of the sine."""
        a, b = self.columns.select(x1), self.columns.select(x2)
        period, lengthscale = self.period, self.lengthscale
        if diag:
            difference = a - b
        else:
            difference = a.unsqueeze(-2) - b.unsqueeze(-3)
            period, lengthscale = period.unsqueeze(-2), lengthscale.unsqueeze(-2)
        sine = torch.sin(math.pi * difference / period) / lengthscale
        return torch.exp(-2.0 * sine.square().sum(-1))
