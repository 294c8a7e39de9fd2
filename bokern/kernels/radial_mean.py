"""Means of a radial kernel over many views, none of whose covariances is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from bokern.kernels.base import StructureKernel
from bokern.kernels.input_warp import KumaraswamyKernel
from bokern.kernels.stationary import RadialKernel

CHUNK_ENTRIES = {"cpu": 2**16, "cuda": 2**24}
"""Covariances at a time: half a megabyte stays in the cache of a core, where
their exponentials, and not the memory, take the time."""


Embedding = Callable[[Tensor], Tensor]


def radial_form(kernel: StructureKernel) -> tuple[RadialKernel, Embedding] | None:
    """A radial kernel and the map of inputs, ``... x n x d``, after which it is this.

    None if there is none, or its slope is infinite somewhere.
    """
    if isinstance(kernel, RadialKernel):
        return (kernel, kernel.embed) if kernel.has_slope else None
    if isinstance(kernel, KumaraswamyKernel):
        form = radial_form(kernel.base_kernel)
        if form is not None:
            radial, embed = form
            return radial, lambda x: embed(kernel.warp(x))
    return None


def radial_mean(
    kernel: RadialKernel,
    shape: Tensor | None,
    x: Tensor,
    views: Tensor,
    weights: Tensor,
) -> Tensor:
    r"""Weighted sums over views, in memory that their number does not enter.

    $$K_{ij} = \sum_p w_p\, \rho(|x_i - v_{pj}|^2)$$

    Covariances are computed again in the backward pass; second derivatives are those
    of the plain expression, with all of its memory.

    Args:
        kernel: Its profile is ρ, with a slope.
        shape: The hyperparameter of ρ, if it has one, ``...``.
        x: ``... x n x d``, in units of the lengthscales.
        views: ``... x P x m x d``, in the same units.
        weights: ``P``.

    Returns:
        ``... x n x m``.
    """
    own = () if shape is None else shape.shape
    lead = torch.broadcast_shapes(x.shape[:-2], views.shape[:-3], own)
    centre = views.detach().mean((-3, -2))
    x = x - centre.unsqueeze(-2)
    views = views - centre.unsqueeze(-2).unsqueeze(-2)
    # With these columns one product gives squared distances.
    left = torch.cat([x, _square(x), torch.ones_like(x[..., :1])], -1)
    right = torch.cat(
        [-2.0 * views, torch.ones_like(views[..., :1]), _square(views)], -1
    )
    left = left.expand(*lead, *left.shape[-2:])
    right = right.expand(*lead, *right.shape[-3:])
    if shape is not None:
        shape = shape.expand(lead)[..., None, None, None]
    mean: Tensor = _RadialMean.apply(kernel, shape, left, right, weights)
    return mean


def _square(x: Tensor) -> Tensor:
    return x.square().sum(-1, keepdim=True)


class _RadialMean(torch.autograd.Function):
    """Sums of ρ(left · right) over views, a few views at a time."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        kernel: RadialKernel,
        shape: Tensor | None,
        left: Tensor,
        right: Tensor,
        weights: Tensor,
    ) -> Tensor:
        ctx.kernel = kernel  # type: ignore[attr-defined]
        ctx.save_for_backward(shape, left, right, weights)  # type: ignore[arg-type]
        total = left.new_zeros(*left.shape[:-1], right.shape[-2])
        for part in _chunks(left, right):
            rho = kernel.profile_(_products(left, right[..., part, :, :]), shape)
            total += rho.mul_(weights[part].unsqueeze(-1)).sum(-2)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        kernel: RadialKernel = ctx.kernel
        shape, left, right, weights = ctx.saved_tensors
        needed = ctx.needs_input_grad[1:4]
        if torch.is_grad_enabled():
            found = _twice(kernel, (shape, left, right), weights, grad, needed)
            return None, *found, None
        dshape = torch.zeros_like(shape) if needed[0] else None
        dleft = torch.zeros_like(left) if needed[1] else None
        dright = torch.empty_like(right) if needed[2] else None
        grad = grad.unsqueeze(-2)
        for part in _chunks(left, right):
            views, weight = right[..., part, :, :], weights[part].unsqueeze(-1)
            slope, bend = kernel.slopes_(_products(left, views), shape)
            if dshape is not None and bend is not None:
                bend = bend.mul_(grad).mul_(weight)
                dshape += bend.sum((-3, -2, -1), keepdim=True)
            slope = slope.mul_(grad).mul_(weight).flatten(-2)
            if dleft is not None:
                dleft += slope @ views.flatten(-3, -2)
            if dright is not None:
                onto = slope.mT @ left
                dright[..., part, :, :] = onto.unflatten(-2, views.shape[-3:-1])
        return None, dshape, dleft, dright, None


def _twice(
    kernel: RadialKernel,
    inputs: tuple[Tensor | None, Tensor, Tensor],
    weights: Tensor,
    grad: Tensor,
    needed: tuple[bool, ...],
) -> list[Tensor | None]:
    """Gradients that can be differentiated again."""
    shape, left, right = inputs
    rho = kernel.profile(_products(left, right), shape)
    plain = (rho * weights.unsqueeze(-1)).sum(-2)
    pairs = zip(inputs, needed, strict=True)
    wanted = [t for t, wants in pairs if wants and t is not None]
    found = iter(torch.autograd.grad(plain, wanted, grad, create_graph=True))
    return [next(found) if wants else None for wants in needed]


def _products(left: Tensor, right: Tensor) -> Tensor:
    """Squared distances, ``... x n x p x m``."""
    square = (left @ right.flatten(-3, -2).mT).unflatten(-1, right.shape[-3:-1])
    return square.clamp_min(0.0) if square.requires_grad else square.clamp_min_(0.0)


def _chunks(left: Tensor, right: Tensor) -> Iterator[slice]:
    """Views that are looked at together."""
    one = left[..., 0].numel() * right.shape[-2]
    most = CHUNK_ENTRIES.get(left.device.type, CHUNK_ENTRIES["cuda"])
    step = max(1, most // max(1, one))
    for start in range(0, right.shape[-3], step):
        yield slice(start, start + step)
