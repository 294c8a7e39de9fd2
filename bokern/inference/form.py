"""The state-space form of a kernel, of those that have an exact one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import cast

from bokern.inference.prior import MarkovPrior, Term
from bokern.kernels import (
    LinearKernel,
    MaternKernel,
    OutputscaleKernel,
    ProductKernel,
    StructureKernel,
    SumKernel,
)

MAX_STATE = 12
"""Largest state that is worth it: the cost of a step grows with its cube. Four
Matérns of ν = 5/2, or one and a product of two."""


def markov_column(kernel: StructureKernel) -> int | None:
    """The one column of a kernel that has a Markov state; None of one that has none."""
    columns = _columns(kernel)
    if columns is None or len(columns) != 1 or state_size(kernel) > MAX_STATE:
        return None
    return columns.pop()


def state_size(kernel: StructureKernel) -> int:
    """Dimension of the state of a kernel made of Matérn and linear ones."""
    if isinstance(kernel, MaternKernel):
        return _order(kernel) + 1
    if isinstance(kernel, OutputscaleKernel):
        return state_size(kernel.base_kernel)
    if isinstance(kernel, SumKernel | ProductKernel):
        sizes = [state_size(part) for part in _parts(kernel)]
        return sum(sizes) if isinstance(kernel, SumKernel) else math.prod(sizes)
    return 1


def markov_prior(kernel: StructureKernel) -> MarkovPrior:
    """The prior of a kernel with a Markov state, at its present hyperparameters."""
    return MarkovPrior(tuple(_terms(kernel)))


def _columns(kernel: StructureKernel) -> set[int] | None:
    """The columns that a kernel reads; None if a part of it has no Markov state.

    Of exactly these classes: one derived from them may change what they mean.
    """
    if type(kernel) is MaternKernel or type(kernel) is LinearKernel:
        return set(kernel.columns.index.tolist())
    if type(kernel) is OutputscaleKernel:
        return _columns(kernel.base_kernel)
    if type(kernel) is SumKernel or type(kernel) is ProductKernel:
        found: set[int] = set()
        for part in _parts(kernel):
            columns = _columns(part)
            if columns is None:
                return None
            found |= columns
        return found
    return None


def _terms(kernel: StructureKernel) -> list[Term]:
    if isinstance(kernel, MaternKernel):
        rate = math.sqrt(2.0 * kernel.nu) / kernel.lengthscale[..., 0, 0]
        return [Term(factors=((_order(kernel), rate),))]
    if isinstance(kernel, LinearKernel):
        return [Term(offsets=(kernel.offset[..., 0, 0],))]
    if isinstance(kernel, OutputscaleKernel):
        scale = Term(kernel.outputscale)
        return [scale.times(term) for term in _terms(kernel.base_kernel)]
    parts = [_terms(part) for part in _parts(kernel)]
    if isinstance(kernel, SumKernel):
        return [term for part in parts for term in part]
    return reduce(lambda a, b: [s.times(t) for s in a for t in b], parts)


def _order(kernel: MaternKernel) -> int:
    return round(kernel.nu - 0.5)


def _parts(kernel: StructureKernel) -> Iterable[StructureKernel]:
    return cast("Iterable[StructureKernel]", kernel.kernels)
