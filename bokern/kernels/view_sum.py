"""One mechanism for sums over views of an input."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from bokern.kernels.base import StructureKernel, WrapperKernel
from bokern.kernels.radial_mean import Embedding, radial_form, radial_mean
from bokern.kernels.stationary import RadialKernel
from bokern.views.orbit import Identity, Orbit, Views

STREAMED_ORDER = 12
"""Views from which on covariances of a radial base are summed without being kept: a
gradient of 60 points under 720 elements takes a tenth of the time, and a hundredth of
the memory. Few views are as fast at once, with nothing computed twice."""


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
    O(n P²). Half of that for the single sum over all pairs of the same points. Memory
    O(n m) for the single sum of a radial base over many views, else as the time.

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
    def is_streamed(self) -> bool:
        """Whether covariances are summed over the views without being kept."""
        return self._radial_form is not None

    @property
    def _radial_form(self) -> tuple[RadialKernel, Embedding] | None:
        many = self.single_sum and self.views.order >= STREAMED_ORDER
        return radial_form(self.base_kernel) if many else None

    @property
    def own_evaluations(self) -> int:
        """One at every view, or pair of views."""
        return self.views.order ** (1 if self.single_sum else 2)

    @property
    def own_entries(self) -> int:
        """As many, unless they are summed as they come."""
        return 1 if self.is_streamed else self.own_evaluations

    @property
    def num_features(self) -> int | None:
        """Those of the base."""
        return self.base_kernel.num_features

    def features(self, x: Tensor) -> Tensor:
        """The mean of the base's over the views, scaled to norm 1 if normalised."""
        views = self.views(x)
        flat = self.base_kernel.features(views.flatten(-3, -2))
        mean = flat.unflatten(-2, views.shape[-3:-1]).mean(-3)
        if not self.normalize:
            return mean
        return mean * _inverse_root(mean.square().sum(-1, keepdim=True))

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Covariances of the mean over the views, or its correlations."""
        k = self._paired_mean(x1, x2) if diag else self._mean(x1, x2)
        if not self.normalize:
            return k
        if x2 is x1:
            s1 = s2 = _inverse_root(k if diag else k.diagonal(dim1=-2, dim2=-1))
        else:
            s1, s2 = (_inverse_root(self._variance(x)) for x in (x1, x2))
        return k * s1 * s2 if diag else k * s1.unsqueeze(-1) * s2.unsqueeze(-2)

    def _mean(self, x1: Tensor, x2: Tensor) -> Tensor:
        if self.is_streamed:
            return self._streamed_mean(x1, x2)
        order = self.views.order
        images2 = self.views(x2).flatten(-3, -2)
        if self.single_sum:
            k = self.base_kernel.forward(x1, images2)
            return k.unflatten(-1, (order, x2.shape[-2])).mean(-2)
        images1 = self.views(x1).flatten(-3, -2)
        k = self.base_kernel.forward(images1, images2)
        k = k.unflatten(-1, (order, x2.shape[-2])).mean(-2)
        return k.unflatten(-2, (order, x1.shape[-2])).mean(-3)

    def _streamed_mean(self, x1: Tensor, x2: Tensor) -> Tensor:
        if x1 is not x2 and x1.shape[-2] < x2.shape[-2]:
            # The fewer points are the cheaper ones to map.
            return self._streamed_mean(x2, x1).mT
        radial, points, images, weights = self._embedded(x1, x2)
        k = radial_mean(radial, radial.shape, points, images, weights)
        return 0.5 * (k + k.mT) if x1 is x2 else k

    def _variance(self, x: Tensor) -> Tensor:
        if not self.is_streamed:
            return self._paired_mean(x, x)
        if x.dim() > 2 and not x.requires_grad:
            # Observations come once for each candidate that is looked at.
            first = x[(0,) * (x.dim() - 2)]
            x = first if torch.equal(x, first.expand_as(x)) else x
        radial, x, images, weights = self._embedded(x, x)
        own = images.movedim(-3, -2).unsqueeze(-2)
        shape = None if radial.shape is None else radial.shape.unsqueeze(-1)
        return radial_mean(radial, shape, x.unsqueeze(-2), own, weights)[..., 0, 0]

    def _embedded(
        self, x1: Tensor, x2: Tensor
    ) -> tuple[RadialKernel, Tensor, Tensor, Tensor]:
        """The radial base, points, images of the others, and weights of the images.

        In shape ``... x n x d``, ``... x P x m x d`` and ``P``.
        Of the same points those of an element or of its inverse: what one does to a
        pair the other does to it the other way round.
        """
        form, views = self._radial_form, self.views
        assert form is not None
        radial, embed = form
        if x1 is x2 and isinstance(views, Orbit):
            images, weights = views.one_way_images(x2), views.one_way_weights.to(x1)
        else:
            images = views(x2)
            weights = x1.new_full((views.order,), 1.0 / views.order)
        flat = embed(images.flatten(-3, -2))
        return radial, embed(x1), flat.unflatten(-2, images.shape[-3:-1]), weights

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


def _inverse_root(variance: Tensor) -> Tensor:
    return variance.clamp_min(torch.finfo(variance.dtype).tiny ** 0.5).rsqrt()


def without_symmetry(kernel: StructureKernel) -> StructureKernel:
    """A copy with the same hyperparameters in which each view sum has one view."""
    plain = deepcopy(kernel)
    for module in plain.modules():
        if isinstance(module, ViewSumKernel):
            module.views = Identity()
            module.single_sum = True
    return plain
