r"""Functions of time that are linear in a finite Markov state.

A sum of terms, each a variance times a product of factors: Matérn processes, whose
states multiply, and linear functions, which multiply the observation by $t - c$.
Without a Matérn factor a term's state is a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from bokern.inference import matern


@dataclass(frozen=True)
class Term:
    """A variance times a product; each tensor has the leading shape of θ.

    Args:
        variance: Of the whole term, 1 where there is none to learn.
        factors: Order p = ν − 1/2 and rate of each Matérn factor, in units of the box.
        offsets: Where each linear factor vanishes.
    """

    variance: Tensor | float = 1.0
    factors: tuple[tuple[int, Tensor], ...] = ()
    offsets: tuple[Tensor, ...] = ()

    @property
    def size(self) -> int:
        """Dimension of the state."""
        return math.prod(order + 1 for order, _ in self.factors)

    def fixed(self) -> Term:
        """The same in float64 and apart from the hyperparameters' graph."""
        return Term(
            torch.as_tensor(self.variance).detach().double(),
            tuple((order, rate.detach().double()) for order, rate in self.factors),
            tuple(offset.detach().double() for offset in self.offsets),
        )

    def times(self, other: Term) -> Term:
        """The term of the product of both kernels."""
        return Term(
            self.variance * other.variance,
            self.factors + other.factors,
            self.offsets + other.offsets,
        )

    def amplitude(self, t: Tensor, trailing: int) -> Tensor:
        """What multiplies the state's first component in f, ``... x trailing``."""
        root = torch.as_tensor(self.variance).to(t).sqrt()
        value = _aligned(root, trailing) * torch.ones_like(t)
        for offset in self.offsets:
            value = value * (t - _aligned(offset, trailing))
        return value

    def covariance(self, a: Tensor, b: Tensor, gap: Tensor, trailing: int) -> Tensor:
        """k(a, b), elementwise over times that broadcast, ``gap`` apart."""
        value = torch.as_tensor(self.variance).to(gap)
        value = _aligned(value, trailing)
        for order, rate in self.factors:
            value = value * matern.correlation(_aligned(rate, trailing) * gap, order)
        for offset in self.offsets:
            zero = _aligned(offset, trailing)
            value = value * ((a - zero) * (b - zero))
        return value

    def transition(self, gap: Tensor, trailing: int) -> Tensor:
        """A over gaps, ``... x s x s``."""
        parts = [
            matern.transition(_aligned(rate, trailing) * gap, order)
            for order, rate in self.factors
        ]
        return _product(parts, _kronecker, torch.ones_like(gap)[..., None, None])

    def noise(self, gap: Tensor, trailing: int) -> Tensor:
        """Q over gaps, ``... x s x s``."""
        parts = [
            matern.noise(_aligned(rate, trailing) * gap, order)
            for order, rate in self.factors
        ]
        return _product(parts, _joint_noise, torch.zeros_like(gap)[..., None, None])

    def noise_column(self, gap: Tensor, trailing: int) -> Tensor:
        """First column of Q over gaps, ``... x s``."""
        parts = [
            matern.noise_column(_aligned(rate, trailing) * gap, order)
            for order, rate in self.factors
        ]
        return _product(parts, _joint_column, torch.zeros_like(gap).unsqueeze(-1))


@dataclass(frozen=True)
class MarkovPrior:
    r"""$f(t) = \sum_j a_j(t)\, x_j(t)$ of independent terms, states side by side.

    Methods take times or gaps ``data x trailing`` and, as the leading shapes of θ and
    of the data meet, how many of their dimensions are trailing.
    """

    terms: tuple[Term, ...]

    @property
    def size(self) -> int:
        """Dimension s of the whole state."""
        return sum(term.size for term in self.terms)

    def fixed(self) -> MarkovPrior:
        """The same in float64 and apart from the hyperparameters' graph."""
        return MarkovPrior(tuple(term.fixed() for term in self.terms))

    def covariance(self, a: Tensor, b: Tensor, trailing: int) -> Tensor:
        """k(a, b), elementwise over times that broadcast."""
        gap = (a - b).abs()
        parts = (term.covariance(a, b, gap, trailing) for term in self.terms)
        return reduce(torch.add, parts)

    def transition(self, gap: Tensor, trailing: int) -> Tensor:
        """A over gaps, ``... x s x s``."""
        return _block_diagonal([t.transition(gap, trailing) for t in self.terms])

    def noise(self, gap: Tensor, trailing: int) -> Tensor:
        """Q over gaps, ``... x s x s``."""
        return _block_diagonal([t.noise(gap, trailing) for t in self.terms])

    def forward_row(self, t: Tensor, gap: Tensor, trailing: int) -> Tensor:
        """The row with which E[f(t) | x(t − gap)] is linear in x, ``... x s``."""
        rows = [
            p.amplitude(t, trailing).unsqueeze(-1)
            * p.transition(gap, trailing)[..., 0, :]
            for p in self.terms
        ]
        return _side_by_side(rows)

    def backward_column(self, t: Tensor, gap: Tensor, trailing: int) -> Tensor:
        """Cov(x(t + gap), f(t)), ``... x s``."""
        columns = [
            p.amplitude(t, trailing).unsqueeze(-1) * p.transition(gap, trailing)[..., 0]
            for p in self.terms
        ]
        return _side_by_side(columns)

    def news_column(
        self, t: Tensor, since: Tensor, to: Tensor, trailing: int
    ) -> Tensor:
        """Cov(x(t + to), f(t) | x(t − since)), ``... x s``."""
        columns = []
        for p in self.terms:
            news = p.noise_column(since, trailing).unsqueeze(-1)
            moved = (p.transition(to, trailing) @ news).squeeze(-1)
            columns.append(p.amplitude(t, trailing).unsqueeze(-1) * moved)
        return _side_by_side(columns)


def _aligned(value: Tensor, trailing: int) -> Tensor:
    return value[(..., *(None,) * trailing)]


def _product(
    parts: list[Tensor], combine: Callable[[Tensor, Tensor], Tensor], empty: Tensor
) -> Tensor:
    return reduce(combine, parts) if parts else empty


def _kronecker(a: Tensor, b: Tensor) -> Tensor:
    blocks = a[..., :, None, :, None] * b[..., None, :, None, :]
    return blocks.flatten(-2).flatten(-3, -2)


def _joint_noise(a: Tensor, b: Tensor) -> Tensor:
    """I − (I − a) ⊗ (I − b), as a sum of what cannot cancel."""
    one_a, one_b = _identity(a, a.shape[-1]), _identity(b, b.shape[-1])
    return _kronecker(a, one_b) + _kronecker(one_a - a, b)


def _joint_column(a: Tensor, b: Tensor) -> Tensor:
    """First column of the joint noise, from those of both."""
    first_a, first_b = (_identity(q, q.shape[-1])[0] for q in (a, b))
    column = a[..., :, None] * first_b + (first_a - a)[..., :, None] * b[..., None, :]
    return column.flatten(-2)


def _identity(like: Tensor, size: int) -> Tensor:
    return torch.eye(size, dtype=like.dtype, device=like.device)


def _block_diagonal(parts: list[Tensor]) -> Tensor:
    if len(parts) == 1:
        return parts[0]
    total = sum(part.shape[-1] for part in parts)
    lead = torch.broadcast_shapes(*(part.shape[:-2] for part in parts))
    rows, before = [], 0
    for part in parts:
        size = part.shape[-1]
        padded = torch.nn.functional.pad(part, (before, total - before - size))
        rows.append(padded.expand(*lead, size, total))
        before += size
    return torch.cat(rows, -2)


def _side_by_side(parts: list[Tensor]) -> Tensor:
    lead = torch.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return torch.cat([part.expand(*lead, part.shape[-1]) for part in parts], -1)
