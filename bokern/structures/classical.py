"""The classical kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from bokern.errors import StructureError
from bokern.kernels import (
    LinearKernel,
    MaternKernel,
    PeriodicKernel,
    RationalQuadraticKernel,
    RBFKernel,
    StructureKernel,
)
from bokern.kernels.stationary import MATERN_NUS
from bokern.structures.base import KernelSpace, Structure, column_tuple, ordered
from bokern.views.groups import Column, Group

LONG = 9.0
"""Log lengthscale at which a smooth correlation is 1 to 4e-8 a column; within the box
of the optimiser."""


@dataclass(frozen=True, repr=False)
class _Leaf(Structure):
    columns: Sequence[Column] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", column_tuple(self.columns))

    @property
    def family(self) -> str:
        """Stationary, unless a class says otherwise."""
        return "stationary"

    @property
    def constant_at(self) -> Mapping[str, float]:
        """Of stationary ones at a lengthscale far beyond the box."""
        return {"raw_lengthscale": LONG} if self.is_stationary else {}

    @property
    def has_constant_variance(self) -> bool:
        """Of stationary ones, unless a class says otherwise."""
        return self.is_stationary

    def canonical(self) -> Structure:
        """With the columns in order."""
        return replace(self, columns=ordered(self.columns))

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether the group maps the columns read among themselves."""
        return _is_closed(self.columns, group)


@dataclass(frozen=True, repr=False)
class RBF(_Leaf):
    """Squared exponential."""

    summary: ClassVar[str] = "infinitely smooth functions, one lengthscale a column"

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Squared-exponential kernel of the columns."""
        return RBFKernel(space.columns(self.columns), space.batch_shape)


@dataclass(frozen=True, repr=False)
class Matern(_Leaf):
    """Matérn of smoothness 0.5 (Ornstein–Uhlenbeck), 1.5 or 2.5."""

    nu: float = 2.5

    summary: ClassVar[str] = "rough to twice differentiable functions; 0.5 is OU"

    def __post_init__(self) -> None:
        super().__post_init__()
        number = isinstance(self.nu, int | float) and not isinstance(self.nu, bool)
        if not number or self.nu not in MATERN_NUS:
            raise StructureError(
                f"Matern expects nu to be one of {', '.join(map(str, MATERN_NUS))}, "
                f"got {self.nu!r:.60}; RBF() is its limit for large nu"
            )
        object.__setattr__(self, "nu", float(self.nu))

    def _arguments(self) -> list[str]:
        columns = [f"columns={list(self.columns)!r}"] if self.columns else []
        return [repr(self.nu), *columns]

    @property
    def constant_at(self) -> Mapping[str, float]:
        """As other leaves, but for ν = ½, which is 1 less a multiple of 1/ℓ."""
        return {} if self.nu == 0.5 else super().constant_at

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Matérn kernel of the columns."""
        columns = space.columns(self.columns)
        return MaternKernel(columns, self.nu, space.batch_shape)


@dataclass(frozen=True, repr=False)
class RationalQuadratic(_Leaf):
    """A scale mixture of squared exponentials."""

    summary: ClassVar[str] = "smooth functions that vary on many scales"

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Rational-quadratic kernel of the columns."""
        return RationalQuadraticKernel(space.columns(self.columns), space.batch_shape)


@dataclass(frozen=True, repr=False)
class Periodic(_Leaf):
    """Exactly periodic functions."""

    summary: ClassVar[str] = "exactly periodic functions, a period a column"

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Periodic kernel of the columns."""
        return PeriodicKernel(space.columns(self.columns), space.batch_shape)


@dataclass(frozen=True, repr=False)
class Linear(_Leaf):
    """Linear trends."""

    summary: ClassVar[str] = "linear trends"

    @property
    def family(self) -> str:
        """Composite: a trend is a part of sums and products."""
        return "composite"

    @property
    def is_stationary(self) -> bool:
        """No: the variance grows away from the offset."""
        return False

    def is_symmetric_under(self, group: Group) -> bool:
        """As other leaves, but not under reflections, which move the offset."""
        return not group.reflects and super().is_symmetric_under(group)

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Linear kernel of the columns."""
        return LinearKernel(space.columns(self.columns), space.batch_shape)


def _is_closed(columns: Sequence[Any], group: Group) -> bool:
    """Whether a resolved group maps the chosen columns among themselves."""
    if not columns:
        return True
    chosen = {int(c) for c in columns}
    dim = 1 + max(chosen | set(group.moved()))
    labels = group.orbits(dim)
    inside = {labels[c] for c in chosen}
    return all(c in chosen for c in range(dim) if labels[c] in inside)
