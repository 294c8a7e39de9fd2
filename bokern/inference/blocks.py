"""What each block of a chain needs to know of all the others."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from bokern.inference.chain import Chain, whitened
from bokern.inference.elements import Elements, prefixes, suffixes
from bokern.inference.prior import MarkovPrior
from bokern.numerics import cholesky


class Blocks(NamedTuple):
    """What a block knows; a row each, an empty block at either end.

    Args:
        start: Time of the state before it.
        stop: Time of the state after it.
        times: Of its observations, ``B``.
        mask: Which of them are observations, ``B``.
        mean: Of the state before, given the past, ``s``.
        missing: I − P of that state, ``s x s``.
        L: Factor of S, ``B x B``.
        white_y: L⁻¹ times the observations less their prediction, ``B``.
        rows: O (I − P), ``B x s``.
        white_rows: L⁻¹ O, ``B x s``.
        white_gain: L⁻¹ Cov(observations, state after | past), ``B x s``.
        step: A over the block, ``s x s``.
        across: Φ, how a shift before moves the prediction after, ``s x s``.
        r: Gradient of the future, ``s``.
        N: Its curvature, ``s x s``.
    """

    start: Tensor
    stop: Tensor
    times: Tensor
    mask: Tensor
    mean: Tensor
    missing: Tensor
    L: Tensor
    white_y: Tensor
    rows: Tensor
    white_rows: Tensor
    white_gain: Tensor
    step: Tensor
    across: Tensor
    r: Tensor
    N: Tensor


def informed_blocks(
    chain: Chain, prior: MarkovPrior, residual: Tensor, noise: Tensor
) -> tuple[Blocks, torch.Size]:
    """Every block with its past and its future.

    Args:
        chain: The times, ``data x n``.
        prior: Of the function, of a leading shape that meets ``data``.
        residual: Observations less their mean, ``data x n``.
        noise: Variances, ``data x n``.

    Returns:
        ``data · (K + 2)`` blocks, and the shape of ``data``.
    """
    elements, _ = chain.elements(prior, residual, noise)
    lead = elements.c.shape[:-1]
    eye = torch.eye(prior.size, dtype=elements.c.dtype, device=elements.c.device)
    past = prefixes(_forgetful(elements, eye).then(elements))
    mean, P = past.b, 0.5 * (past.C + past.C.mT)
    missing = eye - P
    m, before = mean[..., :-1, :, :], P[..., :-1, :, :]
    r, N = _pull(suffixes(elements), m, before, eye)
    rows = chain.rows(prior)
    seen = rows @ missing[..., :-1, :, :]
    L, _ = cholesky(chain.with_noise(chain.covariance(prior) - seen @ rows.mT, noise))
    y = chain.arrange(residual).unsqueeze(-1) - rows @ m
    step = prior.transition(chain.stop - chain.start, 1)
    gain = chain.news(prior) + rows @ before @ step.mT
    white_rows, white_gain, white_y = whitened(L, rows, gain, y)
    first, last = chain.start[..., :1], chain.stop[..., -1:]
    wide = (*first.shape, chain.block)
    to = _Table(lead)
    blocks = Blocks(
        start=to.rows(0, first, chain.start, last),
        stop=to.rows(0, first, chain.stop, last),
        times=to.rows(
            1,
            first.unsqueeze(-1).expand(wide),
            chain.times,
            last[..., None].expand(wide),
        ),
        mask=to.framed(1, chain.mask),
        mean=to.led(1, mean.squeeze(-1)),
        missing=to.led(2, missing),
        L=to.bordered(L),
        white_y=to.framed(1, white_y.squeeze(-1)),
        rows=to.framed(2, seen),
        white_rows=to.framed(2, white_rows),
        white_gain=to.framed(2, white_gain),
        step=to.bordered(step),
        across=to.bordered(step - white_gain.mT @ white_rows),
        r=to.followed(1, r.squeeze(-1)),
        N=to.followed(2, N),
    )
    return blocks, lead


class _Table:
    """Puts an empty block at either end, and the blocks of all data into rows."""

    def __init__(self, lead: torch.Size) -> None:
        self.lead = lead

    def rows(self, rank: int, *parts: Tensor) -> Tensor:
        """Parts ``data x count x …`` of ``rank`` further dimensions, in a row."""
        wide = [p.expand(*self.lead, *p.shape[p.dim() - rank - 1 :]) for p in parts]
        return torch.cat(wide, len(self.lead)).flatten(0, len(self.lead))

    def framed(self, rank: int, value: Tensor) -> Tensor:
        """With 0 at both ends."""
        return self.rows(rank, _none(rank, value), value, _none(rank, value))

    def bordered(self, value: Tensor) -> Tensor:
        """Matrices with the identity at both ends."""
        size = value.shape[-1]
        one = torch.eye(size, dtype=value.dtype, device=value.device).unsqueeze(0)
        return self.rows(2, one, value, one)

    def led(self, rank: int, value: Tensor) -> Tensor:
        """Of the states before each block and after the last, 0 ahead of them."""
        return self.rows(rank, _none(rank, value), value)

    def followed(self, rank: int, value: Tensor) -> Tensor:
        """Of the states before each block, after the block ahead; 0 at the end."""
        return self.rows(rank, value, _none(rank, value), _none(rank, value))


def _none(rank: int, value: Tensor) -> Tensor:
    return value.new_zeros(1, *value.shape[value.dim() - rank :])


def _forgetful(elements: Elements, eye: Tensor) -> Elements:
    """A stretch without data that forgets what came before."""
    zeros = Elements(*(torch.zeros_like(e) for e in elements.at(slice(1))))
    return zeros._replace(C=zeros.C + eye)


def _pull(
    future: Elements, mean: Tensor, P: Tensor, eye: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradient and negative curvature of the future's log density in the mean."""
    right = future.eta - future.J @ (mean - future.reference)
    both = torch.cat([right, future.J], -1)
    r, N = torch.linalg.solve(eye + future.J @ P, both).split([1, eye.shape[-1]], -1)
    return r, 0.5 * (N + N.mT)
