"""What the leaves of a fitted prior say, in words and in raw units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from torch import Tensor

from bokern.kernels import (
    LinearKernel,
    PeriodicKernel,
    StructureKernel,
    ZeroMeanDeepKernel,
)
from bokern.selection.axes import Axes, listed, number, relative
from bokern.structures import (
    RBF,
    SSWIM,
    Matern,
    RationalQuadratic,
    SparseSpectrum,
    Structure,
    WarpedMeasure,
)

LONG = 3.0
"""Lengthscale, in ranges, beyond which a smooth function is almost a straight line:
the correlation across the range is then at least .946."""

SINE, SHARP = 1.5, 0.5
"""Lengthscale of a periodic function above which it is nearly a sine (its second
harmonic has a tenth of the variance), and below which it has many harmonics."""


def columns_of(kernel: Any) -> list[int]:
    """Numbers of the columns that a kernel reads."""
    return cast("list[int]", kernel.columns.index.tolist())


def smooth(structure: Structure, kernel: StructureKernel, axes: Axes) -> str:
    """A stationary or deep leaf."""
    if isinstance(structure, SSWIM | WarpedMeasure):
        where = axes.named(columns_of(kernel))
        bent = f"a function of {where} that learned processes stretch and bend"
        if isinstance(structure, WarpedMeasure):
            return bent
        return f"{bent}, as a sum of {structure.frequencies} waves"
    head = f"a {adjective(structure)} function of {axes.named(columns_of(kernel))}"
    words = f"{head}, {variation(structure, kernel, axes)}"
    if isinstance(structure, SparseSpectrum):
        words += f", as a sum of {structure.frequencies} waves"
    return words


def adjective(structure: Structure) -> str:
    """How smooth a stationary or deep leaf is."""
    if isinstance(structure, SparseSpectrum | WarpedMeasure):
        rbf = structure.spectrum == "rbf"
        structure = RBF() if rbf else Matern(structure.nu)
    match structure:
        case RBF():
            return "smooth"
        case Matern(nu=0.5):
            return "rough (continuous, nowhere differentiable)"
        case Matern(nu=1.5):
            return "once differentiable"
        case Matern():
            return "twice differentiable"
        case RationalQuadratic():
            return "smooth multi-scale"
    return "smooth heavy-tailed"


def variation(structure: Structure, kernel: StructureKernel, axes: Axes) -> str:
    """Over what lengths it varies, the shortest first; where it hardly bends."""
    columns, scales = columns_of(kernel), _lengthscales(kernel)
    order = sorted(range(len(columns)), key=scales.__getitem__)
    short = [(columns[i], scales[i]) for i in order if scales[i] <= LONG]
    long = [columns[i] for i in order if scales[i] > LONG]
    words = []
    if short:
        lengths = _lengths(short, axes, len(columns) > 1)
        words.append(f"varying over about {lengths}")
    if long:
        where = f" in {axes.named(long)}" if len(columns) > 1 else ""
        words.append(f"almost straight{where} over the range")
    if isinstance(structure, RationalQuadratic):
        words.append("with faster and slower variation mixed in")
    return ", ".join(words)


def _lengths(short: Sequence[tuple[int, float]], axes: Axes, many: bool) -> str:
    """Lengths by column, or once if they are the same in all."""
    columns = [column for column, _ in short]
    alike = {(scale, axes.width[column]) for column, scale in short}
    if len(short) > 1 and len(alike) == 1 and not any(map(axes.is_warped, columns)):
        scale, width = alike.pop()
        return f"{number(scale * width)} in each of them ({relative(scale)})"
    return listed([axes.length(c, scale, named=many) for c, scale in short])


def _lengthscales(kernel: StructureKernel) -> list[float]:
    """Lengthscales; of a deep kernel that of the squared exponential it starts as.

    For small distances r its correlation is 1 − H σ₁² r² / 2ℓ².
    """
    lengthscale = kernel.lengthscale
    if isinstance(kernel, ZeroMeanDeepKernel):
        lengthscale = lengthscale / (kernel.latent_scale * kernel.width**0.5)
    return _values(lengthscale)


def _values(value: Tensor) -> list[float]:
    return cast("list[float]", value.detach().flatten().tolist())


def periodic(kernel: PeriodicKernel, axes: Axes) -> str:
    """A periodic leaf, with its periods."""
    columns, shapes = columns_of(kernel), _values(kernel.lengthscale)
    parts = []
    for column, period, shape in zip(
        columns, _values(kernel.period), shapes, strict=True
    ):
        text = _period(column, period, axes, len(columns) > 1)
        if shape > SINE:
            text += ", nearly a sine"
        elif shape < SHARP:
            text += ", with sharp features"
        parts.append(text)
    periods = "period" if len(columns) == 1 else "periods"
    return (
        f"a periodic function of {axes.named(columns)} with {periods} {listed(parts)}"
    )


def _period(column: int, period: float, axes: Axes, named: bool) -> str:
    if axes.is_warped(column):
        return axes.length(column, period, named)
    of = f" in {axes.names[column]}" if named else ""
    raw = f"{number(period * axes.width[column], 4)}{of}"
    if period > 1.0:
        return f"{raw} (its range holds less than one)"
    return f"{raw} (its range holds {number(1.0 / period, 2)})"


def linear(kernel: LinearKernel, axes: Axes) -> str:
    """A linear leaf."""
    columns = columns_of(kernel)
    warped = "warped " if any(map(axes.is_warped, columns)) else ""
    return f"a linear trend in {warped}{axes.named(columns)}"


def amplitude(kernel: LinearKernel, axes: Axes) -> str:
    """How a linear factor changes the amplitude of what it multiplies."""
    columns, offsets = columns_of(kernel), _values(kernel.offset)
    names = axes.named(columns)
    if len(columns) > 1 or axes.is_warped(columns[0]):
        return f"of an amplitude that changes linearly with {names}"
    zero = axes.place(columns[0], offsets[0])
    if 0.0 < offsets[0] < 1.0:
        return f"of an amplitude proportional to the distance of {names} from {zero}"
    grows = "grows" if offsets[0] <= 0.0 else "falls"
    return f"of an amplitude that {grows} linearly with {names} (zero at {zero})"


def modulation(
    carrier: PeriodicKernel, structure: Structure, kernel: StructureKernel, axes: Axes
) -> str:
    """How a smooth factor changes a periodic one."""
    columns = columns_of(kernel)
    if columns == columns_of(carrier):
        return f"its shape {variation(structure, kernel, axes)}"
    names = axes.named(columns)
    return f"different along {names}, {variation(structure, kernel, axes)}"
