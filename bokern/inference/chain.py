"""Data in the order of their times, in blocks of which each is a stretch."""

from __future__ import annotations

import torch
from torch import Tensor

from bokern.inference.elements import Elements, total
from bokern.inference.prior import MarkovPrior
from bokern.numerics import LOG_2PI, cholesky

BLOCK = 16
"""Observations in a block, treated densely: one by one, in 16 more steps of the scan
that each cost as much as a small block, a likelihood takes 2 to 4 times as long."""


class Chain:
    """Times, sorted and cut into K blocks of B, the last one filled up.

    Args:
        times: ``data x n``, in any order, with repeats.
        block: B.

    Attributes:
        order: Which observation stands where, ``data x n``.
        times: ``data x K x B``.
        mask: 1 for observations, 0 for what fills up, ``K x B``.
        start: Time of the state before each block, that of the last observation of the
            block before; of the first observation for the first. ``data x K``.
        stop: Time of the last observation, ``data x K``.
    """

    def __init__(self, times: Tensor, block: int = BLOCK) -> None:
        self.size = times.shape[-1]
        self.block = block
        self.count = -(-self.size // block)
        self.order = times.detach().argsort(dim=-1, stable=True)
        ordered = times.gather(-1, self.order)
        missing = self.count * block - self.size
        last = ordered[..., -1:].expand(*ordered.shape[:-1], missing)
        self.times = self._cut(torch.cat([ordered, last], -1))
        ones = torch.ones(self.size, dtype=times.dtype, device=times.device)
        self.mask = self._cut(torch.nn.functional.pad(ones, (0, missing)))
        self.stop = self.times[..., -1]
        self.start = torch.cat([ordered[..., :1], self.stop[..., :-1]], -1)

    def arrange(self, values: Tensor, fill: float = 0.0) -> Tensor:
        """Values of the observations ``... x n`` in blocks, ``... x K x B``."""
        lead = torch.broadcast_shapes(values.shape[:-1], self.order.shape[:-1])
        values = values.expand(*lead, self.size)
        ordered = values.gather(-1, self.order.expand(*lead, self.size))
        missing = self.count * self.block - self.size
        return self._cut(torch.nn.functional.pad(ordered, (0, missing), value=fill))

    def _cut(self, values: Tensor) -> Tensor:
        return values.unflatten(-1, (self.count, self.block))

    def covariance(self, prior: MarkovPrior) -> Tensor:
        """Of the function in each block, ``... x K x B x B``."""
        return prior.covariance(self.times[..., :, None], self.times[..., None, :], 3)

    def rows(self, prior: MarkovPrior) -> Tensor:
        """E[f | state before] = O x in each block, ``... x K x B x s``."""
        since = self.times - self.start.unsqueeze(-1)
        return prior.forward_row(self.times, since, 2) * self.mask.unsqueeze(-1)

    def news(self, prior: MarkovPrior) -> Tensor:
        """Cov(f, state after | state before) in each block, ``... x K x B x s``."""
        since = self.times - self.start.unsqueeze(-1)
        to = self.stop.unsqueeze(-1) - self.times
        return prior.news_column(self.times, since, to, 2) * self.mask.unsqueeze(-1)

    def with_noise(self, V: Tensor, noise: Tensor) -> Tensor:
        """Covariances of a block plus noise, with 1 for what fills it up."""
        pair = self.mask.unsqueeze(-1) * self.mask.unsqueeze(-2)
        return V * pair + torch.diag_embed(self.arrange(noise, 1.0))

    def elements(
        self, prior: MarkovPrior, residual: Tensor, noise: Tensor
    ) -> tuple[Elements, Tensor]:
        """The blocks as stretches.

        Args:
            prior: Of the function.
            residual: Observations less their mean, ``... x n``.
            noise: Variances, ``... x n``.

        Returns:
            The stretches, and which were factorised, ``... x K``.
        """
        rows, news = self.rows(prior), self.news(prior)
        V = self.with_noise(self.covariance(prior) - rows @ rows.mT, noise)
        L, good = cholesky(V)
        y = self.arrange(residual).unsqueeze(-1)
        rows, news, y = whitened(L, rows, news, y)
        J = rows.mT @ rows
        reference = _reference(J, rows.mT @ y)
        y = y - rows @ reference
        gap = self.stop - self.start
        A = prior.transition(gap, 1)
        log_det = L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        elements = Elements(
            A=A - news.mT @ rows,
            b=A @ reference + news.mT @ y,
            C=prior.noise(gap, 1) - news.mT @ news,
            eta=rows.mT @ y,
            J=J,
            c=-0.5 * y.square().sum((-2, -1)) - log_det,
            reference=reference,
        )
        return elements, good

    def log_likelihood(
        self, prior: MarkovPrior, residual: Tensor, noise: Tensor
    ) -> Tensor:
        """Log density of the observations, ``...``; −inf where a block fails."""
        elements, good = self.elements(prior, residual, noise)
        whole = total(elements)
        J, eta, reference = (
            part[..., 0, :, :] for part in (whole.J, whole.eta, whole.reference)
        )
        eye = torch.eye(J.shape[-1], dtype=J.dtype, device=J.device)
        L, factorised = cholesky(eye + J)
        pull = torch.linalg.solve_triangular(L, eta - reference, upper=False)
        quadratic = pull.square().sum((-2, -1)) - reference.square().sum((-2, -1))
        log_det = L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        value = whole.c[..., 0] + 0.5 * (quadratic - self.size * LOG_2PI) - log_det
        usable = good.all(-1) & factorised & torch.isfinite(value.detach())
        return torch.where(usable, value, -torch.inf)


def whitened(L: Tensor, *right: Tensor) -> list[Tensor]:
    """L⁻¹ times each of several matrices, by one solve."""
    lead = torch.broadcast_shapes(L.shape[:-1], *(r.shape[:-1] for r in right))
    wide = torch.cat([r.expand(*lead, r.shape[-1]) for r in right], -1)
    white = torch.linalg.solve_triangular(L, wide, upper=False)
    return list(white.split([r.shape[-1] for r in right], -1))


def _reference(J: Tensor, eta: Tensor) -> Tensor:
    """What a block says about the state before it; any constant will do."""
    with torch.no_grad():
        eye = torch.eye(J.shape[-1], dtype=J.dtype, device=J.device)
        L = torch.linalg.cholesky_ex(eye + J).L
        return torch.cholesky_solve(eta, L)
