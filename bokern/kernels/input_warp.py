"""Monotone warps of the inputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import Columns, StructureKernel, WrapperKernel

EDGE = 1e-7
"""The cube is shrunk by this much at each face, where the slope may be infinite. It is
shrunk rather than clamped, so that the gradient at a face does not vanish."""


class KumaraswamyKernel(WrapperKernel):
    r"""A base kernel on inputs warped by the Kumaraswamy distribution function.

    Stretches one end of the box, or its middle, against the rest: functions that
    vary fast near an edge and slowly elsewhere.

    $$k(x, x') = k_{base}(w(x), w(x')), \qquad w_j(u) = 1 - (1 - u^{a_j})^{b_j}$$

    Reduces to: its base at $a = b = 1$, where it starts.
    Valid for: any base, as a composition with a map. Points outside the unit cube
    are moved to its faces.
    Cost: that of the base and O(n d).

    References:
        [Kumaraswamy]; as an input warp [InputWarping]
    """

    def __init__(self, base_kernel: StructureKernel, columns: Columns) -> None:
        super().__init__(base_kernel)
        self.columns = columns
        for name in ("concentration_a", "concentration_b"):
            prior = hyperpriors.concentration()
            self.register_hyperparameter(name, (1, columns.num_slots), prior)

    def warp(self, x: Tensor) -> Tensor:
        """Maps points of the unit cube, ``... x n x d``, to the warped cube."""
        a = self.columns.spread(self.hyperparameter("concentration_a"))
        b = self.columns.spread(self.hyperparameter("concentration_b"))
        u = EDGE + (1.0 - 2.0 * EDGE) * self.columns.select(x).clamp(0.0, 1.0)
        survival = torch.log(-torch.expm1(a * torch.log(u)))
        return self.columns.replace(x, -torch.expm1(b * survival))

    @property
    def num_features(self) -> int | None:
        """Those of the base."""
        return self.base_kernel.num_features

    def features(self, x: Tensor) -> Tensor:
        """The base's, of the warped inputs."""
        return self.base_kernel.features(self.warp(x))

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """The base's covariances of the warped inputs."""
        w1 = self.warp(x1)
        w2 = w1 if x2 is x1 else self.warp(x2)
        return self.base_kernel.forward(w1, w2, diag=diag)
