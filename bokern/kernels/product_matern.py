"""A product of Matérns of one column each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bokern.kernels.base import ColumnKernel, Columns


class ProductMaternKernel(ColumnKernel):
    r"""A product of Matérns of one column each, of variance 1.

    $$k(x, x') = \prod_j \rho_\nu(|x_j - x'_j| / \ell_j)$$

    What the waves of ``"product-matern"`` frequencies tend to. Rougher along diagonals
    than `MaternKernel`, which it equals for one column.

    Valid for: any d >= 1, as a product.
    Cost: O(n m d) time and memory.

    Args:
        columns: Columns read, and their ties.
        nu: 0.5, 1.5 or 2.5.
        batch_shape: Leading dimensions of the hyperparameters.

    References:
        [GPML] eq. 4.17 and section 4.2.4
    """

    is_stationary = True

    def __init__(
        self, columns: Columns, nu: float, batch_shape: Sequence[int] = ()
    ) -> None:
        super().__init__(columns, batch_shape=batch_shape)
        self.nu = nu

    @property
    def own_entries(self) -> int:
        """A gradient keeps two numbers a column, of some 40 that there is room for."""
        return math.ceil(self.columns.size / 20)

    @property
    def own_evaluations(self) -> int:
        """An entry takes as long as so many of a Matérn's."""
        return math.ceil(self.columns.size / 4)

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations, from lengthscales in units of the box."""
        a, b = (self._scaled(x) for x in (x1, x2))
        total = polynomial = None
        # Column by column: all pairs of a column stay in the cache.
        for p, q in zip(a.unbind(-1), b.unbind(-1), strict=True):
            apart = p - q if diag else p.unsqueeze(-1) - q.unsqueeze(-2)
            r = apart.abs()
            total = r if total is None else total + r
            factor = self._polynomial(r)
            polynomial = factor if polynomial is None else polynomial * factor
        assert total is not None
        assert polynomial is not None
        return polynomial * torch.exp(-total)

    def _scaled(self, x: Tensor) -> Tensor:
        return self.columns.select(x) / self.lengthscale * math.sqrt(2.0 * self.nu)

    def _polynomial(self, r: Tensor) -> Tensor:
        if self.nu == 0.5:
            return torch.ones_like(r)
        return 1.0 + r if self.nu == 1.5 else 1.0 + r + r.square() / 3.0
