"""One mechanism for sums over views of an input."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from bokern.kernels.base import StructureKernel, WrapperKernel
from bokern.views.orbit import Identity, Views


class ViewSumKernel(WrapperKernel):
    r"""The kernel of $f(x) = \frac1P \sum_p g(v_p(x))$, $g \sim GP(0, k_g)$.

    $$\bar k(x, x') = \frac{1}{P^2} \sum_{p,q} k_g(v_p(x), v_q(x'))$$

    With ``single_sum`` the P times cheaper $\frac1P \sum_p k_g(x, v_p(x'))$, which is
    the same only if the views form a group under which the base is invariant; the
    structure decides that, from its form, when it is built. With ``normalize`` the
    result is $\bar k(x,x') / \sqrt{\bar k(x,x)\, \bar k(x',x')}$, of variance 1
    everywhere: the bare mean over a group varies by a factor of up to P, and is
    largest on the points that the group fixes.

    Reduces to: the base kernel (its correlation, if normalised) for one view.
    Valid for: any base and views; PSD as a linear map of g, and normalising keeps it.
    Only a mean whose variance vanishes nowhere can be normalised.
    Cost: O(n m P) base evaluations, O(n m P²) for the double sum; ``diag`` O(n P) and
    O(n P²).

    References:
        [Invariance] eq. 5 and 6; normalisation and single sum in MATH section 4
    """

    def __init__(
        self,
        base_kernel: StructureKernel,
        views: Views,
        single_sum: bool,
        normalize: bool = True,
    ) -> None:
        super().__init__(base_kernel)
        self.views = views
        self.single_sum = single_sum
        self.normalize = normalize

    @property
    def evaluations(self) -> int:
        """Those of the base at every view, or pair of views."""
        order = self.views.order
        return self.base_kernel.evaluations * order ** (1 if self.single_sum else 2)

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Covariances of the mean over the views, or its correlations."""
        k = self._paired_mean(x1, x2) if diag else self._mean(x1, x2)
        if not self.normalize:
            return k
        v1, v2 = self._variance(x1), self._variance(x2)
        if diag:
            return k * (v1 * v2).rsqrt()
        return k * v1.rsqrt().unsqueeze(-1) * v2.rsqrt().unsqueeze(-2)

    def _variance(self, x: Tensor) -> Tensor:
        variance = self._paired_mean(x, x)
        return variance.clamp_min(torch.finfo(variance.dtype).tiny ** 0.5)

    def _mean(self, x1: Tensor, x2: Tensor) -> Tensor:
        order = self.views.order
        images2 = self.views(x2).flatten(-3, -2)
        if self.single_sum:
            k = self.base_kernel.forward(x1, images2)
            return k.unflatten(-1, (order, x2.shape[-2])).mean(-2)
        images1 = self.views(x1).flatten(-3, -2)
        k = self.base_kernel.forward(images1, images2)
        k = k.unflatten(-1, (order, x2.shape[-2])).mean(-2)
        return k.unflatten(-2, (order, x1.shape[-2])).mean(-3)

    def _paired_mean(self, x1: Tensor, x2: Tensor) -> Tensor:
        order, n = self.views.order, x1.shape[-2]
        images2 = self.views(x2)
        left = x1.unsqueeze(-3) if self.single_sum else self.views(x1)
        if not self.single_sum:
            left, images2 = left.unsqueeze(-3), images2.unsqueeze(-4)
            order = order * order
        shape = torch.broadcast_shapes(left.shape, images2.shape)
        dims = 1 if self.single_sum else 2
        left = left.expand(shape).flatten(-2 - dims, -2)
        right = images2.expand(shape).flatten(-2 - dims, -2)
        k = self.base_kernel.forward(left, right, diag=True)
        return k.unflatten(-1, (order, n)).mean(-2)


def without_symmetry(kernel: StructureKernel) -> StructureKernel:
    """A copy with the same hyperparameters in which each view sum has one view."""
    plain = deepcopy(kernel)
    for module in plain.modules():
        if isinstance(module, ViewSumKernel):
            module.views = Identity()
            module.single_sum = True
    return plain
