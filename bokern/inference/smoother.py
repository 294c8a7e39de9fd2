r"""The posterior at any points, from what each block needs to know of the others.

Before a block, the past says $x \sim N(m, P)$; after it, the future pulls on $x'$ by r
and N, the gradient and negative curvature of its log density in the mean of $x'$.
Between, the function is a small Gaussian process of covariance
$k(t, t') - o_t (I - P) o_{t'}^T$, and

$$E f_t = o_t m + g_t S^{-1} (y - O m) + c_t r, \quad
  V f_t = k_{tt} - o_t (I - P) o_t^T - g_t S^{-1} g_t^T - c_t N c_t^T$$

with S the covariance of the block's observations, $g_t$ and $c_t$ the covariances of
$f_t$ with them and, given them, with $x'$. Points of different blocks covary through
the states between: $c_t \Phi^T \cdots \Phi^T w_{t'}^T$.

References:
    [Smoothing]; with blocks in place of single observations, ours
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from bokern.inference.blocks import Blocks, informed_blocks
from bokern.inference.chain import Chain
from bokern.inference.prior import MarkovPrior

PAIR_ELEMENTS = 2**23
"""Entries of transition matrices gathered at a time for pairs of points."""


class _Local(NamedTuple):
    """Points as seen from their blocks: ``batch x q``, and ``s`` or ``B`` each."""

    row: Tensor
    white: Tensor
    onward: Tensor
    reached: Tensor


class Smoother:
    """The posterior of a function at fixed hyperparameters, given noisy observations.

    What does not depend on the points is worked out once, in O(n) time and memory.

    Args:
        chain: The times, ``data x n``.
        prior: Of the function, of a leading shape that meets ``data``.
        residual: Observations less their mean, ``data x n``.
        noise: Variances, ``data x n``.
    """

    def __init__(
        self, chain: Chain, prior: MarkovPrior, residual: Tensor, noise: Tensor
    ) -> None:
        self.prior = prior
        self._blocks, self.lead = informed_blocks(chain, prior, residual, noise)
        self._count = chain.count + 2
        self._powers = _powers(self._blocks.across, self._count)
        self._bounds = torch.cat([chain.start, chain.stop[..., -1:]], -1).detach()

    def predict(self, times: Tensor) -> tuple[Tensor, Tensor]:
        """Mean ``batch x q`` and covariance ``batch x q x q`` at ``batch x q`` times.

        Differentiable in the times. A batch of single points costs O(1) a point, a
        joint covariance O(q²) and O(log n) for each pair.
        """
        batch = torch.broadcast_shapes(times.shape[:-1], self.lead)
        times = times.expand(*batch, times.shape[-1])
        number, block = self._find(times)
        own = Blocks(*(b[number + block] for b in self._blocks))
        local = self._local(times, own)
        mean = _dot(local.row, own.mean) + _dot(local.white, own.white_y)
        mean = mean + _dot(local.onward, own.r)
        return mean, self._covariance(times, number, block, own, local)

    def _find(self, times: Tensor) -> tuple[Tensor, Tensor]:
        """Row of the first block of a point's data, and the number of its block."""
        where = times.detach().contiguous()
        if not self.lead:
            block = torch.searchsorted(self._bounds, where)
            return torch.zeros_like(block), block
        bounds = self._bounds.expand(*times.shape[:-1], self._count - 1)
        block = torch.searchsorted(bounds.contiguous(), where)
        data = torch.arange(self.lead.numel(), device=block.device).reshape(self.lead)
        return (data * self._count).unsqueeze(-1).expand_as(block), block

    def _local(self, times: Tensor, own: Blocks) -> _Local:
        since = (times - own.start).clamp_min(0.0)
        to = (own.stop - times).clamp_min(0.0)
        row = self.prior.forward_row(times, since, 1)
        gains = self.prior.covariance(times.unsqueeze(-1), own.times, 2).unsqueeze(-1)
        gains = (gains - own.rows @ row.unsqueeze(-1)) * own.mask.unsqueeze(-1)
        white = torch.linalg.solve_triangular(own.L, gains, upper=False).squeeze(-1)
        onward = self.prior.backward_column(times, to, 1)
        onward = onward - _through(_through(row, own.missing), own.step.mT)
        onward = onward - _through(white, own.white_gain)
        reached = row - _through(white, own.white_rows)
        reached = reached - _through(_through(onward, own.N), own.across)
        return _Local(row, white, onward, reached)

    def _covariance(
        self, times: Tensor, number: Tensor, block: Tensor, own: Blocks, local: _Local
    ) -> Tensor:
        K = self.prior.covariance(times.unsqueeze(-1), times.unsqueeze(-2), 2)
        K = K - _through(local.row, own.missing) @ local.row.mT
        K = K - local.white @ local.white.mT
        K = K - _through(local.onward, own.N) @ local.onward.mT
        if times.shape[-1] == 1:
            return K
        apart = self._between(number, block, local)
        same = block.unsqueeze(-1) == block.unsqueeze(-2)
        return torch.where(same, K, apart + apart.mT)

    def _between(self, number: Tensor, block: Tensor, local: _Local) -> Tensor:
        """Covariances of each point with those in later blocks, 0 with others."""
        q, s = local.onward.shape[-2:]
        rows = max(1, PAIR_ELEMENTS // (max(1, local.onward.numel()) * s))
        parts = []
        for first in range(0, q, rows):
            some = slice(first, first + rows)
            start = block[..., some, None] + 1
            length = block.unsqueeze(-2) - start
            later = length >= 0
            vector = local.onward[..., some, None, :]
            vector = vector.expand(*length.shape, s)
            place = start.expand_as(length).clamp_max(self._count - 1)
            for level in range(int(length.max().clamp_min(0)).bit_length()):
                jumps = later & (length.clamp_min(0) >> level & 1).bool()
                matrix = self._powers[level][number.unsqueeze(-1)[..., some, :] + place]
                moved = _through(vector, matrix)
                vector = torch.where(jumps.unsqueeze(-1), moved, vector)
                place = torch.where(jumps, place + 2**level, place)
                place = place.clamp_max(self._count - 1)
            value = _dot(vector, local.reached.unsqueeze(-3))
            parts.append(torch.where(later, value, 0.0))
        return torch.cat(parts, -2)


def _powers(across: Tensor, count: int) -> list[Tensor]:
    """Products of Φᵀ over 1, 2, 4, … blocks from each block on."""
    table = across.mT.unflatten(0, (-1, count))
    tables = [table]
    span = 1
    while 2 * span < count:
        table = torch.cat([table[:, :-span] @ table[:, span:], table[:, -span:]], 1)
        tables.append(table)
        span *= 2
    return [t.flatten(0, 1) for t in tables]


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1)


def _through(vector: Tensor, matrix: Tensor) -> Tensor:
    """Row vectors times matrices."""
    return (vector.unsqueeze(-2) @ matrix).squeeze(-2)
