"""The independent functions that a prior adds up."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import cast

from bokern.kernels import (
    ChangePointKernel,
    KumaraswamyKernel,
    OutputscaleKernel,
    ProductKernel,
    StructureKernel,
    SumKernel,
    WrapperKernel,
)
from bokern.selection.sides import one_side
from bokern.structures import ChangePoint, Kumaraswamy, Product, Structure, Sum


@dataclass(frozen=True, eq=False)
class Term:
    """One of the functions that a prior adds up.

    Args:
        structure: Of this function alone, columns by number; not in canonical form,
            so that it matches the kernel node by node.
        kernel: Its covariance, with the fitted hyperparameters.
    """

    structure: Structure
    kernel: StructureKernel


def additive_terms(structure: Structure, kernel: StructureKernel) -> list[Term]:
    """The summands of a prior.

    Products are expanded over sums, warps go into them, and the two sides of a change
    are apart. Anything else, such as an average over a group, is one term.

    Args:
        structure: A resolved structure in canonical form.
        kernel: What its ``kernel`` or ``correlation`` built.

    Returns:
        Terms whose kernels add up to ``kernel``; they are rebuilt, the parameters in
        them are copies.
    """
    match structure, kernel:
        case _, OutputscaleKernel():
            inner = additive_terms(structure, _base(kernel))
            return [Term(t.structure, _around(kernel, t.kernel)) for t in inner]
        case Sum(), SumKernel():
            parts = _paired(structure.parts, kernel)
            return [t for part, k in parts for t in additive_terms(part, k)]
        case Product(), ProductKernel():
            expanded = [
                additive_terms(p, k) for p, k in _paired(structure.parts, kernel)
            ]
            return [_multiplied(choice) for choice in product(*expanded)]
        case Kumaraswamy(), KumaraswamyKernel():
            inner = additive_terms(structure.base, _base(kernel))
            return [
                Term(structure.with_children([t.structure]), _around(kernel, t.kernel))
                for t in inner
            ]
        case ChangePoint(), ChangePointKernel():
            sides = ((structure.before, kernel.before), (structure.after, kernel.after))
            return [
                Term(*one_side(t.structure, t.kernel, kernel, structure.columns, after))
                for after, (part, k) in zip((False, True), sides, strict=True)
                for t in additive_terms(part, k)
            ]
    return [Term(structure, deepcopy(kernel))]


def _paired(
    parts: Sequence[Structure], kernel: SumKernel | ProductKernel
) -> list[tuple[Structure, StructureKernel]]:
    kernels = [cast(StructureKernel, k) for k in kernel.kernels]
    return list(zip(parts, kernels, strict=True))


def _base(kernel: WrapperKernel) -> StructureKernel:
    return kernel.base_kernel


def _around(wrapper: WrapperKernel, base: StructureKernel) -> StructureKernel:
    """The same wrapper, its parameters copied, around another kernel."""
    copy = deepcopy(wrapper)
    copy.base_kernel = base
    return copy


def _multiplied(factors: Sequence[Term]) -> Term:
    """Factors as one term, nested products flattened."""
    structures: list[Structure] = []
    kernels: list[StructureKernel] = []
    for factor in factors:
        bare, kernel = factor.structure, factor.kernel
        if isinstance(bare, Product) and isinstance(kernel, ProductKernel):
            structures.extend(bare.parts)
            kernels.extend(cast(StructureKernel, k) for k in kernel.kernels)
        else:
            structures.append(bare)
            kernels.append(kernel)
    return Term(Product(tuple(structures)), ProductKernel(kernels))
