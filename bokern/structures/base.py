"""The interface of a structure: text, JSON, algebra, and the kernel it stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, cast

from bokern.errors import ColumnError, StructureError
from bokern.kernels import Columns, OutputscaleKernel, StructureKernel
from bokern.views.groups import (
    Column,
    Group,
    check_column,
    column_name,
    resolve_column,
)

SCHEMA_VERSION = 1

REGISTRY: dict[str, type[Structure]] = {}
"""Concrete structures by name, filled as the classes are defined."""


@dataclass(frozen=True)
class KernelSpace:
    """Where a kernel is built.

    Args:
        dim: Number of columns.
        batch_shape: Leading dimensions of the hyperparameters.
        ties: One label a column; a group ties the columns of each orbit, so that
            equal labels share hyperparameters.
    """

    dim: int
    batch_shape: tuple[int, ...] = ()
    ties: tuple[int, ...] | None = None

    def columns(self, chosen: Sequence[Column]) -> Columns:
        """The chosen columns, or all of them if none is chosen.

        Raises:
            ColumnError: If one is still a name, or does not exist.
        """
        index = [c for c in chosen if isinstance(c, int) and 0 <= c < self.dim]
        if len(index) < len(chosen):
            raise ColumnError(
                f"columns {list(chosen)} are not all numbers below {self.dim}: "
                "resolve(names) turns names into numbers"
            )
        return Columns(index or range(self.dim), self.ties, self.dim)


@dataclass(frozen=True)
class Place:
    """Where in a structure's kernel a part of it stands.

    Args:
        part: The part.
        path: Where its kernel lies, such as ``"base_kernel."``.
        scaled: Whether its kernel there has an outputscale.
    """

    part: Structure
    path: str
    scaled: bool


@dataclass(frozen=True)
class Layout:
    """Where a structure's hyperparameters lie in its kernel.

    Args:
        node: What the kernel is built as: the structure, or an equal one.
        path: Where its own hyperparameters lie, all but an outputscale.
        scale: Name of its own outputscale, if it has one.
        places: Its parts.
    """

    node: Structure
    path: str = ""
    scale: str | None = None
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, repr=False)
class Structure(ABC):
    """What the function is believed to be.

    Structures are immutable, hashable and know nothing of data. Two that mean the same
    have equal `canonical` forms, which `parse`, ``+`` and ``*`` return. `str` gives a
    line that `parse` reads back.
    """

    summary: ClassVar[str]

    # Without annotations, which would make them fields of every structure.
    columns = cast("Sequence[Column]", ())
    """Columns read or warped; none stands for all of them."""
    group = cast("Group | None", None)
    """The group that is averaged over, if any."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            REGISTRY[cls.__name__] = cls

    # -- to be written by each family -------------------------------------------

    @property
    @abstractmethod
    def family(self) -> str:
        """Class in the structure prior.

        One of stationary, composite, warped, deep, invariant, or composition (of
        several of these).
        """

    @abstractmethod
    def correlation(self, space: KernelSpace) -> StructureKernel:
        """The kernel without its overall outputscale."""

    @abstractmethod
    def is_symmetric_under(self, group: Group) -> bool:
        """Whether k(gx, gx') = k(x, x') for each element of a resolved group.

        Given hyperparameters tied over its orbits; decided from the form alone.
        """

    # -- shared ------------------------------------------------------------------

    @property
    def children(self) -> tuple[Structure, ...]:
        """The structures this one is made of."""
        return ()

    def with_children(self, children: Sequence[Structure]) -> Structure:
        """The same node over other children."""
        if children:
            raise StructureError(f"{type(self).__name__} has no parts")
        return self

    def kernel(self, space: KernelSpace) -> StructureKernel:
        """The GPyTorch kernel, on the unit cube, with its outputscale."""
        return OutputscaleKernel(self.correlation(space))

    def layout(self, scaled: bool) -> Layout:
        """Where hyperparameters lie in `kernel`, or, unscaled, in `correlation`."""
        inner = self._correlation_layout()
        if not scaled:
            return inner
        places = (replace(p, path=f"base_kernel.{p.path}") for p in inner.places)
        path = f"base_kernel.{inner.path}"
        return Layout(inner.node, path, "raw_outputscale", tuple(places))

    def _correlation_layout(self) -> Layout:
        return Layout(self)

    @property
    def constant_at(self) -> Mapping[str, float]:
        """Raw values at which the correlation is 1 everywhere; none if there are none.

        To 4e-8 a column.
        """
        return {}

    def canonical(self) -> Structure:
        """The representative of all ways to write this structure."""
        parts = [child.canonical() for child in self.children]
        return self.with_children(parts) if parts else self

    def resolve(self, names: Sequence[str]) -> Structure:
        """The same structure with every column as a number, in canonical form.

        A choice of all columns becomes none, which means the same.

        Args:
            names: Names of all columns of the data, in order.

        Raises:
            ColumnError: If a column is unknown or named twice.
            GroupError: If a group wants another number of columns, or factors of a
                product share one.
        """
        return self._numbered(names).canonical()

    def _numbered(self, names: Sequence[str]) -> Structure:
        parts = [child._numbered(names) for child in self.children]
        node: Any = self.with_children(parts) if parts else self
        if self.columns:
            numbers = tuple(resolve_column(c, names) for c in self.columns)
            if len(set(numbers)) < len(numbers):
                raise ColumnError(f"{self} names a column twice")
            everything = len(numbers) == len(names)
            node = replace(node, columns=() if everything else numbers)
        return node

    def named(self, names: Sequence[str]) -> Structure:
        """The same structure with every numbered column by its name, to be shown.

        Args:
            names: Names of all columns of the data, in order.
        """
        parts = [child.named(names) for child in self.children]
        node: Any = self.with_children(parts) if parts else self
        if self.columns:
            node = replace(
                node, columns=tuple(column_name(c, names) for c in self.columns)
            )
        if self.group is not None:
            node = replace(node, group=self.group.named(names))
        return node

    def nodes(self) -> Iterator[Structure]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def groups(self) -> Iterator[Group]:
        """The groups that stand anywhere in the structure."""
        for node in self.nodes():
            if node.group is not None:
                yield node.group

    @property
    def kinds(self) -> frozenset[str]:
        """What holds for a function with this prior.

        Its family, and any of stationary, nonstationary, composite, warped, deep,
        invariant.
        """
        shape = "stationary" if self.is_stationary else "nonstationary"
        invariant = {"invariant"} if self.symmetries else set()
        return self._own_kinds() | {self.family, shape} | invariant

    @property
    def symmetries(self) -> frozenset[Group]:
        """Groups known to leave every function with this prior unchanged."""
        return frozenset()

    def _own_kinds(self) -> frozenset[str]:
        return frozenset().union(*(child._own_kinds() for child in self.children))

    @property
    def is_stationary(self) -> bool:
        """Whether the kernel depends on x − x' alone."""
        return all(child.is_stationary for child in self.children)

    @property
    def has_constant_variance(self) -> bool:
        """Whether the prior variance is the same everywhere."""
        return all(child.has_constant_variance for child in self.children)

    def columns_read(self, dim: int) -> tuple[int, ...]:
        """The columns that a function with this prior depends on.

        Args:
            dim: Number of columns; the structure is resolved.
        """
        read = set(self._gates)
        for child in self.children:
            read.update(child.columns_read(dim))
        if not self.children:
            read.update([int(c) for c in self.columns] or range(dim))
        if self.group is not None:
            labels = self.group.orbits(dim)
            orbits = {labels[c] for c in read}
            read.update(c for c in range(dim) if labels[c] in orbits)
        return tuple(sorted(read))

    @property
    def _gates(self) -> tuple[int, ...]:
        """Resolved columns along which one part takes over from another."""
        return ()

    def contains(self, other: Structure) -> bool:
        """Whether ``other`` is this structure with some parts at their identity."""
        return self == other or self._lift(other) is not None

    def lift(self, parent: Structure) -> tuple[dict[str, str], dict[str, float]]:
        """How a fit of a contained structure starts one of this.

        Returns:
            Kernel parameter names here → names in the parent's kernel, and raw
            values of those that stand at their identity.

        Raises:
            StructureError: If ``parent`` is not contained.
        """
        if self == parent:
            return {"": ""}, {}
        lifted = self._lift(parent)
        if lifted is None:
            raise StructureError(f"{self} does not contain {parent}")
        return lifted

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        return None

    # -- text, JSON, algebra -------------------------------------------------------

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments())})"

    def __repr__(self) -> str:
        return str(self)

    def _arguments(self) -> list[str]:
        arguments = []
        for item in fields(self):
            value = getattr(self, item.name)
            if value == item.default:
                continue
            if isinstance(value, tuple):
                value = list(value)
            keyword = item.kw_only
            arguments.append(f"{item.name}={value!r}" if keyword else f"{value!r}")
        return arguments

    def __add__(self, other: Structure) -> Structure:
        return _combine(REGISTRY["Sum"], self, other)

    def __mul__(self, other: Structure) -> Structure:
        return _combine(REGISTRY["Product"], self, other)

    def to_json(self) -> dict[str, Any]:
        """A JSON document that `from_json` reads back."""
        return {"version": SCHEMA_VERSION, "structure": str(self)}

    @staticmethod
    def from_json(document: Any) -> Structure:
        """Reads what `to_json` wrote.

        Raises:
            StructureError: If it is malformed or of a newer version.
        """
        from bokern.structures.parse import parse

        if not isinstance(document, dict) or "structure" not in document:
            raise StructureError(
                "a stored structure is an object with 'version' and 'structure', got "
                f"{document!r:.80}"
            )
        version = document.get("version")
        if version != SCHEMA_VERSION:
            raise StructureError(
                f"a stored structure of version {version!r} cannot be read: this "
                f"release knows version {SCHEMA_VERSION}; update bokern"
            )
        return parse(document["structure"])


def column_tuple(columns: Sequence[Column] | None) -> tuple[Column, ...]:
    """Columns as a tuple, checked for type and repetition."""
    if columns is None:
        return ()
    if isinstance(columns, str):
        raise ColumnError(
            f"columns= expects a list of names or numbers, got {columns!r}: write "
            f"columns=[{columns!r}]"
        )
    chosen = tuple(columns)
    for column in chosen:
        check_column(column)
    if len(set(chosen)) < len(chosen):
        raise ColumnError(f"columns= names a column twice: {list(chosen)}")
    return chosen


def ordered(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns by number, then by name."""
    return tuple(sorted(columns, key=lambda c: (isinstance(c, str), c)))


def check_part(owner: str, value: Any) -> Structure:
    """A part of a structure, which must itself be one."""
    if not isinstance(value, Structure):
        raise StructureError(
            f"{owner} expects a structure such as Matern(2.5), got {value!r:.60} of "
            f"type {type(value).__name__}"
        )
    return value


def _combine(node: Any, left: Structure, right: Structure) -> Structure:
    if not isinstance(right, Structure):
        raise StructureError(
            f"a structure combines with structures only, got {right!r:.60}: there is "
            "no scalar multiplication, each component learns its own outputscale"
        )
    return node((left, right)).canonical()
