r"""What a stretch of data says about the state at its two ends, and how two combine.

For a stretch with state x before and x' after,

$$p(y, x' \mid x) = \exp(c + \eta^T d - \tfrac12 d^T J d)\;
  N(x';\, b + A d,\, C), \qquad d = x - \bar x$$

Two that meet combine into one of the same form, associatively, so that n of them take
log n steps. Each is held relative to a reference $\bar x$ of its own, near what its
data say about x: relative to 0, c would be sums of squares of the data over the noise
variance, and cancel.

References:
    [ParallelKalman]; with references and covariances of whole stretches, ours
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Elements(NamedTuple):
    """A sequence of stretches, along the last dimension of ``c``.

    Args:
        A: ``... x K x s x s``.
        b: ``... x K x s x 1``.
        C: ``... x K x s x s``.
        eta: ``... x K x s x 1``.
        J: ``... x K x s x s``.
        c: ``... x K``, nats.
        reference: ``... x K x s x 1``.
    """

    A: Tensor
    b: Tensor
    C: Tensor
    eta: Tensor
    J: Tensor
    c: Tensor
    reference: Tensor

    @property
    def number(self) -> int:
        """Number of stretches, K."""
        return self.c.shape[-1]

    def at(self, where: slice) -> Elements:
        """Some of the stretches."""
        return self._each(lambda e, d: e[..., where] if d == 1 else e[..., where, :, :])

    def flip(self) -> Elements:
        """The stretches in the opposite order."""
        return self._each(lambda e, d: e.flip(-d))

    def then(self, other: Elements) -> Elements:
        """One sequence after the other."""
        pairs = zip(self, other, DIMS, strict=True)
        return Elements(*(torch.cat([a, b], -d) for a, b, d in pairs))

    def interleave(self, other: Elements) -> Elements:
        """Alternately from both, of which this has as many or one more."""
        size = other.number
        pairs = zip(self.at(slice(size)), other, DIMS, strict=True)
        mixed = Elements(
            *(torch.stack([a, b], -d).flatten(-d - 1, -d) for a, b, d in pairs)
        )
        return mixed if self.number == size else mixed.then(self.at(slice(size, None)))

    def _each(self, change: Callable[[Tensor, int], Tensor]) -> Elements:
        return Elements(*(change(e, d) for e, d in zip(self, DIMS, strict=True)))


DIMS = (3, 3, 3, 3, 3, 1, 3)
"""Number of the dimension of K in each, from the end."""


def combine(first: Elements, second: Elements) -> Elements:
    """Each stretch of the first joined to that of the second, which follows it."""
    s = first.A.shape[-1]
    shift = first.b - second.reference
    eye = torch.eye(s, dtype=shift.dtype, device=shift.device)
    LU, pivots, _ = torch.linalg.lu_factor_ex(eye + first.C @ second.J)
    right = torch.cat([first.A, first.C, shift + first.C @ second.eta], -1)
    solved = torch.linalg.lu_solve(LU, pivots, right)
    moved, spread, centre = solved.split([s, s, 1], -1)
    pull = second.eta - second.J @ shift
    log_det = LU.diagonal(dim1=-2, dim2=-1).abs().log().sum(-1)
    gain = (second.eta + pull) * shift + pull * (spread @ pull)
    return Elements(
        A=second.A @ moved,
        b=second.A @ centre + second.b,
        C=second.A @ spread @ second.A.mT + second.C,
        eta=first.eta + moved.mT @ pull,
        J=first.J + first.A.mT @ (second.J @ moved),
        c=first.c + second.c + 0.5 * (gain.sum((-2, -1)) - log_det),
        reference=first.reference,
    )


def total(elements: Elements) -> Elements:
    """All stretches as one."""
    while elements.number > 1:
        even = elements.number // 2 * 2
        left, right = elements.at(slice(0, even, 2)), elements.at(slice(1, even, 2))
        joined = combine(left, right)
        rest = elements.at(slice(even, None))
        elements = joined.then(rest) if rest.number else joined
    return elements


def prefixes(elements: Elements) -> Elements:
    """The first k stretches as one, for each k = 1 … K."""
    return _scan(elements, combine)


def suffixes(elements: Elements) -> Elements:
    """All stretches but the first k as one, for each k = 0 … K − 1."""
    return _scan(elements.flip(), lambda a, b: combine(b, a)).flip()


def _scan(
    elements: Elements, join: Callable[[Elements, Elements], Elements]
) -> Elements:
    if elements.number == 1:
        return elements
    even = elements.number // 2 * 2
    pairs = join(elements.at(slice(0, even, 2)), elements.at(slice(1, even, 2)))
    odd = _scan(pairs, join)
    first = elements.at(slice(1))
    if elements.number == 2:
        return first.interleave(odd)
    later = elements.at(slice(2, None, 2))
    filled = join(odd.at(slice(later.number)), later)
    return first.then(filled).interleave(odd)
