"""What a fitted prior believes of a function, in words and in raw units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from bokern.kernels import (
    ChangePointKernel,
    ConditionalDeepKernel,
    KumaraswamyKernel,
    LinearKernel,
    OutputscaleKernel,
    PeriodicKernel,
    ProductKernel,
    StructureKernel,
    SumKernel,
    ViewSumKernel,
)
from bokern.selection import leaf_wording
from bokern.selection.axes import Axes, listed, number
from bokern.selection.sides import SideKernel
from bokern.structures import (
    RBF,
    ChangePoint,
    ConditionalDeep,
    DeepSE,
    Group,
    Invariant,
    Kumaraswamy,
    Linear,
    Matern,
    Periodic,
    Product,
    RationalQuadratic,
    SparseSpectrum,
    Structure,
    Sum,
    WarpedMeasure,
)

ABRUPT = 0.02
"""Share of the range within which a change is worth no word on how gradual it is."""

SMOOTH = (RBF, Matern, RationalQuadratic, DeepSE, SparseSpectrum, WarpedMeasure)

Part = tuple[Structure, StructureKernel]


def phrase(structure: Structure, kernel: StructureKernel, axes: Axes) -> str:
    """What a structure with fitted hyperparameters says, as a noun phrase.

    Args:
        structure: Resolved, matching the kernel node by node.
        kernel: What it built, fitted.
        axes: The columns as this kernel sees them.
    """
    kernel = _bare(kernel)
    if isinstance(kernel, SideKernel):
        (inside,) = structure.children
        return f"{phrase(inside, kernel.base_kernel, axes)}, {_side(kernel, axes)}"
    match structure, kernel:
        case Sum(), SumKernel():
            parts = paired(structure.parts, kernel)
            return " plus ".join(phrase(part, k, axes) for part, k in parts)
        case Product(), ProductKernel():
            return _product(paired(structure.parts, kernel), axes)
        case Kumaraswamy(), KumaraswamyKernel():
            inner = axes.under(kernel)
            base = phrase(structure.base, kernel.base_kernel, inner)
            return f"{base}, {_stretches(structure, kernel, inner)}"
        case ChangePoint(), ChangePointKernel():
            before = phrase(structure.before, kernel.before, axes)
            after = phrase(structure.after, kernel.after, axes)
            return f"{_change(kernel, axes)}: before it {before}; after it {after}"
        case Invariant(base=Sum()), SumKernel():
            # A sum of which some parts are normalised apart.
            averaged = [replace(structure, base=p) for p in structure.base.children]
            parts = paired(averaged, kernel)
            return " plus ".join(phrase(part, k, axes) for part, k in parts)
        case Invariant(), ViewSumKernel():
            base = phrase(structure.base, kernel.base_kernel, axes)
            return f"{base}, {symmetry(structure.group, axes)}"
        case ConditionalDeep(), ConditionalDeepKernel():
            return _deep(structure, axes)
        case Periodic(), PeriodicKernel():
            return leaf_wording.periodic(kernel, axes)
        case Linear(), LinearKernel():
            return leaf_wording.linear(kernel, axes)
    if isinstance(structure, SMOOTH):
        return leaf_wording.smooth(structure, kernel, axes)
    return f"a function with the prior {structure}"


def paired(parts: Sequence[Structure], kernel: SumKernel | ProductKernel) -> list[Part]:
    """The parts of a sum or product with their kernels."""
    kernels = [_bare(cast(StructureKernel, k)) for k in kernel.kernels]
    return list(zip(parts, kernels, strict=True))


def _bare(kernel: StructureKernel) -> StructureKernel:
    """A kernel without its outputscales, which say nothing of a function's shape."""
    while isinstance(kernel, OutputscaleKernel):
        kernel = kernel.base_kernel
    return kernel


def symmetry(group: Group, axes: Axes) -> str:
    """What a resolved group leaves unchanged, in words."""
    if group.factors:
        parts = [symmetry(factor, axes) for factor in group.factors]
        if group.kind == "product":
            return " and ".join(parts)
        return f"unchanged by a group of order {group.order}: {listed(parts)}"
    columns = group.moved()
    names = axes.named(columns)
    match group.kind:
        case "permutations" | "swap":
            return f"symmetric under exchange of {names}"
        case "cyclic":
            return f"unchanged when {names} are shifted cyclically"
        case "sign_flips":
            return f"unchanged by the sign of {names}"
    centres = [f"{axes.names[c]} = {axes.place(c, 0.5)}" for c in columns]
    return f"symmetric about {listed(centres)}"


def slopes_in_words(slopes: Sequence[tuple[str, float, float]]) -> str:
    """How a trend rises or falls, per unit of each column."""
    if len(slopes) == 1:
        ((name, slope, sd),) = slopes
        how = "rising" if slope >= 0.0 else "falling"
        return f"{how} by {number(abs(slope))} ± {number(sd, 2)} per unit of {name}"
    each = [
        f"{number(slope)} ± {number(sd, 2)} in {name}" for name, slope, sd in slopes
    ]
    return f"with slopes {listed(each)}"


def _deep(structure: ConditionalDeep, axes: Axes) -> str:
    """A function of hidden functions."""
    names = listed([axes.names[c] for c in structure.columns_read(len(axes.names))])
    learned = f" learned at {structure.hyperdata} places" if structure.hyperdata else ""
    if structure.mean == "identity":
        return f"a function of {names} bent by hidden functions{learned}"
    hidden = "a hidden function"
    if structure.width > 1:
        hidden = f"{structure.width} hidden functions"
    return f"a function of {hidden} of {names}{learned}"


def _stretches(structure: Kumaraswamy, kernel: KumaraswamyKernel, axes: Axes) -> str:
    """Where a warp stretches the columns that its base reads."""
    read = structure.columns_read(len(axes.names))
    columns = [c for c in leaf_wording.columns_of(kernel) if c in read]
    stretched = [axes.stretch(c) for c in columns if axes.is_warped(c)]
    if stretched:
        return f"where {listed(stretched)}"
    return f"where {axes.named(columns)} is hardly warped"


def _change(kernel: ChangePointKernel, axes: Axes) -> str:
    return f"a change at {_where(kernel, axes)}{_fading(kernel, axes)}"


def _side(kernel: SideKernel, axes: Axes) -> str:
    where = _where(kernel, axes)
    text = f"from {where} on" if kernel.after else f"until {where}"
    return text + _fading(kernel, axes)


def _where(kernel: ChangePointKernel | SideKernel, axes: Axes) -> str:
    """Where a change happens."""
    (column,) = leaf_wording.columns_of(kernel)
    warped = "warped " if axes.is_warped(column) else ""
    place = axes.place(column, kernel.location.item())
    return f"{warped}{axes.names[column]} = {place}"


def _fading(kernel: ChangePointKernel | SideKernel, axes: Axes) -> str:
    """How gradual a change is; nothing of an abrupt one."""
    (column,) = leaf_wording.columns_of(kernel)
    # A sigmoid is 12 to 88 % done within two widths on either side.
    span = 4.0 * kernel.width.item()
    if span < ABRUPT:
        return ""
    if span > 1.0:
        return " (gradual, over more than the range)"
    return f" (gradual, over about {number(span * axes.width[column])})"


def _product(parts: Sequence[Part], axes: Axes) -> str:
    """A product of leaves told as one function; of others, as a product."""

    def of(*kinds: type[Structure]) -> list[tuple[Structure, Any]]:
        return [(s, k) for s, k in parts if isinstance(s, kinds)]

    periodic, linear, smooth = of(Periodic), of(Linear), of(*SMOOTH)
    leaves = len(periodic) + len(linear) + len(smooth)
    if leaves < len(parts) or len(periodic) > 1:
        return f"the product of {' and '.join(phrase(s, k, axes) for s, k in parts)}"
    if periodic:
        carrier = periodic[0][1]
        words = [leaf_wording.periodic(carrier, axes)]
        words += [leaf_wording.modulation(carrier, s, k, axes) for s, k in smooth]
    elif smooth:
        words = [_joint(smooth, axes)]
    else:
        return _polynomial([leaf_wording.columns_of(k) for _, k in linear], axes)
    words += [leaf_wording.amplitude(k, axes) for _, k in linear]
    return ", ".join(words)


def _joint(smooth: Sequence[tuple[Structure, Any]], axes: Axes) -> str:
    """Smooth factors as one function of all their columns."""
    if len(smooth) == 1:
        return leaf_wording.smooth(*smooth[0], axes)
    columns = sorted({c for _, k in smooth for c in leaf_wording.columns_of(k)})
    each = [
        f"{leaf_wording.adjective(s)} in {axes.named(leaf_wording.columns_of(k))}, "
        f"{leaf_wording.variation(s, k, axes)}"
        for s, k in smooth
    ]
    kind = "an interaction" if len(columns) > 1 else "a function"
    return f"{kind} of {axes.named(columns)} ({'; '.join(each)})"


def _polynomial(chosen: Sequence[list[int]], axes: Axes) -> str:
    """A product of linear factors."""
    degree = {2: "quadratic", 3: "cubic"}.get(len(chosen), f"degree-{len(chosen)}")
    if all(columns == chosen[0] for columns in chosen):
        return f"a {degree} trend in {axes.named(chosen[0])}"
    names = " and ".join(axes.named(columns) for columns in chosen)
    return f"an interaction of linear trends in {names}"


def spelled(structure: Structure, names: Sequence[str]) -> str:
    """A resolved structure as text with the names of its columns."""
    return str(structure.named(names))
