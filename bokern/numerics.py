"""The numerical policy: one place for jitters, factorisations and distances.

Nothing here reads a global setting, so that results do not depend on which
library was imported first.
"""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import Tensor

RELATIVE_JITTERS = {
    torch.float64: (1e-10, 1e-8, 1e-6),
    torch.float32: (1e-6, 1e-5, 1e-4),
}
"""Multiples of the mean diagonal, tried in turn on matrices that do not factorise.

The largest, a standard deviation of .001 in float64, stands below any noise that
matters; a matrix that needs more than rounding explains is no covariance, and fails.
"""

DIRECT_DISTANCE_DIM = 4
"""Up to this many columns, distances come from differences rather than products."""

LOG_2PI = math.log(2.0 * math.pi)


def cholesky(K: Tensor) -> tuple[Tensor, Tensor]:
    """Factorises a batch of covariance matrices, each with the least jitter it needs.

    The jitter is at most 1e-6 of the mean diagonal in float64, 1e-4 in float32.

    Args:
        K: ``... x n x n``, symmetric, in float64 or float32.

    Returns:
        The lower factors, ``... x n x n`` (NaN where nothing helped), and a boolean
        tensor ``...`` that says which matrices were factorised.
    """
    L, info = torch.linalg.cholesky_ex(K)
    good = _factorised(L, info)
    if bool(good.all()):
        return L, good
    eye = torch.eye(K.shape[-1], dtype=K.dtype, device=K.device)
    usable = torch.isfinite(K.detach()).all(-1).all(-1)
    K = torch.where(usable[..., None, None], K, eye)
    scale = K.detach().diagonal(dim1=-2, dim2=-1).mean(-1)
    jitter = torch.zeros_like(scale)
    for relative in RELATIVE_JITTERS[K.dtype]:
        jitter = torch.where(good, jitter, relative * scale)
        with torch.no_grad():
            good = _factorised(*torch.linalg.cholesky_ex(K + _diagonal(jitter, eye)))
        if bool(good.all()):
            break
    safe = torch.where(good[..., None, None], K + _diagonal(jitter, eye), eye)
    good = good & usable
    L = torch.linalg.cholesky_ex(safe).L
    return torch.where(good[..., None, None], L, torch.nan), good


def _factorised(L: Tensor, info: Tensor) -> Tensor:
    return (info == 0) & torch.isfinite(L.detach().diagonal(dim1=-2, dim2=-1)).all(-1)


def _diagonal(jitter: Tensor, eye: Tensor) -> Tensor:
    return jitter[..., None, None] * eye


def squared_distance(x1: Tensor, x2: Tensor) -> Tensor:
    """Squared Euclidean distances, twice differentiable.

    Args:
        x1: ``... x n1 x d``.
        x2: ``... x n2 x d``.

    Returns:
        ``... x n1 x n2``, non-negative; from differences for few columns, so that
        near-equal numbers are never subtracted after squaring.
    """
    if 1 <= x1.shape[-1] <= DIRECT_DISTANCE_DIM:
        # Column by column: a sum over a short last dimension is six times slower.
        columns = zip(x1.unbind(-1), x2.unbind(-1), strict=True)
        squares = ((a.unsqueeze(-1) - b.unsqueeze(-2)).square() for a, b in columns)
        return reduce(torch.add, squares)
    centre = x2.detach().mean(-2, keepdim=True)
    a, b = x1 - centre, x2 - centre
    products = a @ b.transpose(-1, -2)
    square = a.square().sum(-1).unsqueeze(-1) + b.square().sum(-1).unsqueeze(-2)
    return (square - 2.0 * products).clamp_min(0.0)


def scaled_squared_distance(x1: Tensor, x2: Tensor, lengthscale: Tensor) -> Tensor:
    """Squared distances in units of lengthscales, twice differentiable.

    Of points that are the same for all lengthscales, as in a fit, by one product of the
    squared differences with the inverse squares: less than half the time with gradient.

    Args:
        x1: ``... x n1 x d``.
        x2: ``... x n2 x d``.
        lengthscale: ``batch x 1 x d``.

    Returns:
        ``... x n1 x n2``, of the leading dimensions of all three.
    """
    d = x1.shape[-1]
    many = d <= max(DIRECT_DISTANCE_DIM, lengthscale[..., 0].numel())
    shared = x1.dim() == x2.dim() == 2
    if not (many and shared) or x1.requires_grad or x2.requires_grad:
        return squared_distance(x1 / lengthscale, x2 / lengthscale)
    # The order of memory would decide that of the sums, and with it their last bits.
    z1, z2 = x1.mT.contiguous(), x2.mT.contiguous()
    apart = (z1.unsqueeze(-1) - z2.unsqueeze(-2)).square()
    square = lengthscale.square().reciprocal() @ apart.flatten(1)
    return square.unflatten(-1, apart.shape[1:]).squeeze(-3)


def paired_squared_distance(x1: Tensor, x2: Tensor) -> Tensor:
    """Squared distances of row i to row i, ``... x n``."""
    return (x1 - x2).square().sum(-1)


def safe_sqrt(square: Tensor) -> Tensor:
    """Square root whose derivatives are 0, not infinite, at 0."""
    tiny = torch.finfo(square.dtype).tiny
    positive = square > tiny
    root = torch.where(positive, square, torch.ones_like(square)).sqrt()
    return torch.where(positive, root, torch.zeros_like(root))
