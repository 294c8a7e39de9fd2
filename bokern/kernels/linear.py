"""Linear trends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import Columns, StructureKernel


class LinearKernel(StructureKernel):
    r"""Linear functions that vanish at an offset, with slopes of variance 1.

    $$k(x, x') = \sum_j (x_j - c_j)(x'_j - c_j)$$

    Valid for: any d >= 1, as an inner product.
    Cost: O(n m d) time, O(n m) memory.

    References:
        [GPML] section 4.2.2
    """

    def __init__(self, columns: Columns, batch_shape: Sequence[int] = ()) -> None:
        super().__init__(batch_shape)
        self.columns = columns
        shape = (1, columns.num_slots)
        self.register_hyperparameter(
            "offset", shape, hyperpriors.offset(), positive=False
        )
        self.initialize_hyperparameter("offset", 0.5)

    @property
    def offset(self) -> Tensor:
        """Where the trend is zero, ``batch x 1 x columns``, in units of the box."""
        return self.columns.spread(self.hyperparameter("offset"))

    @property
    def num_features(self) -> int:
        """The columns."""
        return self.columns.size

    def features(self, x: Tensor) -> Tensor:
        """The inputs less the offset."""
        return self.columns.select(x) - self.offset

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Inner products of the inputs less the offset."""
        offset = self.offset
        a, b = self.columns.select(x1) - offset, self.columns.select(x2) - offset
        return (a * b).sum(-1) if diag else a @ b.transpose(-1, -2)
