"""Functions that a finite group leaves unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from bokern.errors import GroupError, StructureError
from bokern.kernels import StructureKernel, ViewSumKernel
from bokern.structures.base import KernelSpace, Layout, Place, Structure, check_part
from bokern.structures.composite import Sum
from bokern.structures.warped import _wrap_family
from bokern.views.groups import Group
from bokern.views.orbit import Orbit

MAX_ENTRIES = 120**2
"""Of the innermost base for a pair of points: a double sum over 120 elements, whose
matrix at 100 points has (120 · 100)² entries, 1.2 GB."""


@dataclass(frozen=True, repr=False)
class Invariant(Structure):
    """A base structure averaged over a group: f(gx) = f(x) for each element g.

    Args:
        base: What is believed of the function that is averaged.
        group: The symmetry, such as ``permutations(3)``.
        tied: Whether columns that the group interchanges share their
            hyperparameters. Tied bases need a single sum over the group, untied ones
            the double sum, a factor of the group's order dearer.
        normalize: Whether the prior variance is made the same everywhere. That of a
            base such as `Linear`, which varies and may vanish, is left as it is. In
            a sum of such bases and others the parts are averaged apart, each
            normalised if it can be; a sum of others is normalised as a whole.
    """

    base: Structure
    group: Group = field()
    tied: bool = field(default=True, kw_only=True)
    normalize: bool = field(default=True, kw_only=True)

    summary: ClassVar[str] = "unchanged under a finite group: permutations, reflections"

    def __post_init__(self) -> None:
        check_part("Invariant", self.base)
        if not isinstance(self.group, Group):
            raise GroupError(
                "Invariant(base, group) expects a group such as permutations(3), got "
                f"{self.group!r:.60} of type {type(self.group).__name__}"
            )
        for name in ("tied", "normalize"):
            if not isinstance(getattr(self, name), bool):
                raise StructureError(
                    f"Invariant expects {name} to be True or False, got "
                    f"{getattr(self, name)!r}"
                )

    @property
    def family(self) -> str:
        """Invariant over a classical base, else a composition."""
        return _wrap_family("invariant", self.base)

    @property
    def is_stationary(self) -> bool:
        """No: correlations depend on the distance to the images."""
        return False

    @property
    def children(self) -> tuple[Structure, ...]:
        """The base."""
        return (self.base,)

    @property
    def has_constant_variance(self) -> bool:
        """Whether the average is normalised."""
        return self.normalize and self._can_normalize

    @property
    def _can_normalize(self) -> bool:
        """Whether the base's variance is constant, or a bare mean of one that is."""
        if isinstance(self.base, Invariant):
            return self.base._can_normalize
        return self.base.has_constant_variance

    def with_children(self, children: Sequence[Structure]) -> Invariant:
        """The same average of another base."""
        return replace(self, base=children[0])

    def _numbered(self, names: Sequence[str]) -> Structure:
        node = self.with_children([self.base._numbered(names)])
        return replace(node, group=self.group.resolve(names))

    def canonical(self) -> Structure:
        """Averaged once: a second average over one group only normalises and ties."""
        node = replace(self, base=self.base.canonical(), group=self.group.canonical())
        base = node.base
        if isinstance(base, Invariant) and base.group == node.group:
            tied, normalize = (
                base.tied or self.tied,
                base.normalize or self.normalize,
            )
            return replace(base, tied=tied, normalize=normalize)
        return node

    @property
    def symmetries(self) -> frozenset[Group]:
        """The group."""
        return frozenset({self.group})

    def is_symmetric_under(self, group: Group) -> bool:
        """Whether it is a subgroup of the group averaged over."""
        return self.group.contains(group)

    @property
    def uses_single_sum(self) -> bool:
        """Whether one sum over a resolved group suffices, from the form alone."""
        return self.tied and self.base.is_symmetric_under(self.group)

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Average of the base's correlation over the group.

        Raises:
            ColumnError: If the group's columns are still names.
            GroupError: If the group is too large, or moves a column that is not there.
        """
        parts = self._separate_parts()
        if parts:
            return Sum(parts).correlation(space)
        orbit = Orbit(self.group, space.dim)
        ties = space.ties
        if self.tied:
            own = self.group.orbits(space.dim)
            ties = own if ties is None else _join(own, ties)
        base = self.base.correlation(KernelSpace(space.dim, space.batch_shape, ties))
        single, normalized = self.uses_single_sum, self.has_constant_variance
        kernel = ViewSumKernel(base, orbit, single, normalized)
        if kernel.entries > MAX_ENTRIES:
            sums = "one sum" if single else "a double sum"
            raise GroupError(
                f"{self} needs {sums} over {orbit.order} elements, in all "
                f"{kernel.entries} evaluations a pair of points, "
                f"{8e-5 * kernel.entries:.3g} GB for 100 points; at most "
                f"{MAX_ENTRIES} are allowed: use tied=True over a base that is "
                "itself symmetric, or a smaller group"
            )
        return kernel

    def _correlation_layout(self) -> Layout:
        parts = self._separate_parts()
        if parts:
            return Sum(parts).layout(scaled=False)
        return Layout(self, places=(Place(self.base, "base_kernel.", False),))

    def _separate_parts(self) -> tuple[Structure, ...]:
        """Averages of a sum's parts, if some can be normalised and the sum cannot."""
        if not isinstance(self.base, Sum) or self.has_constant_variance:
            return ()
        parts = tuple(replace(self, base=part) for part in self.base.parts)
        return parts if any(part.has_constant_variance for part in parts) else ()


def _join(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The finest labels that tie what either of two labellings ties."""
    labels = list(range(len(a)))
    for _ in labels:
        for other in (a, b):
            lowest: dict[int, int] = {}
            for label, tie in zip(labels, other, strict=True):
                lowest[tie] = min(label, lowest.get(tie, label))
            labels = [min(x, lowest[tie]) for x, tie in zip(labels, other, strict=True)]
    return tuple(labels)
