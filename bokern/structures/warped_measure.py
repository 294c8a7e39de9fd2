"""Exact expectations over warped inputs as structures."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from bokern.errors import StructureError
from bokern.kernels import StructureKernel, WarpedMeasureKernel
from bokern.kernels.warp import WarpKernel
from bokern.structures.base import KernelSpace, Structure
from bokern.structures.classical import RBF, Matern
from bokern.structures.sparse_spectrum import _Spectral

MAX_LAYERS, MAX_PLACES = 8, 1024
MOMENTS = ("matched", "plug-in")
LAWS = ("independent", "joint")


@dataclass(frozen=True, repr=False, kw_only=True)
class _Warped(_Spectral):
    """A stationary structure of inputs that learned Gaussian processes moved."""

    spectrum: str = "product-matern"
    nu: float = 1.5
    layers: int = 1
    pseudo_points: int = 8
    moments: str = "matched"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_whole("layers", 1, MAX_LAYERS)
        self._check_whole("pseudo_points", 1, MAX_PLACES)
        self._check_choice("moments", MOMENTS)

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            raise StructureError(
                f"{type(self).__name__} expects {name} to be one of "
                f"{', '.join(choices)}, got {value!r:.60}"
            )

    @property
    def family(self) -> str:
        """Warped."""
        return "warped"

    @property
    def is_stationary(self) -> bool:
        """No."""
        return False

    @property
    @abstractmethod
    def plain(self) -> Structure | None:
        """The structure without a warp, if there is one."""

    @property
    def _shared(self) -> dict[str, Any]:
        """What says which warps there are, and of what: all hyperparameters."""
        return {item.name: getattr(self, item.name) for item in fields(_Warped)}

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        plain = self.plain
        if plain is None or parent.canonical() != plain.canonical():
            return None
        own = ("raw_outputscale", "base_kernel.raw_lengthscale")
        still = {f"base_kernel.{n}": value for n, value in WarpKernel.waits.items()}
        return {name: name for name in own}, still


@dataclass(frozen=True, repr=False, kw_only=True)
class WarpedMeasure(_Warped):
    """A Matérn or squared exponential, expected of inputs that processes bend.

    The limit of `SSWIM` for infinitely many frequencies, which leaves no chance in the
    evidence: a warp that was learned with waves starts a fit of this, exactly as it
    was. Dense, for up to a few thousand observations.

    Args:
        spectrum: ``"rbf"``, ``"matern"``, or ``"product-matern"``, a product of Matérns
            of one column each.
        nu: Smoothness of a Matérn, 1.5 or 2.5.
        layers: Warps, one after the other.
        pseudo_points: Places at which each is given targets.
        moments: ``"matched"``, or ``"plug-in"`` as in the published code, which loses
            uncertainty from the second layer on.
        law: ``"independent"`` warps of any two points, as of `SSWIM`, so that what is
            unknown of them lowers the variance; or ``"joint"``, of one layer, by which
            near points move together and the variance is the same everywhere.
        columns: Columns read; all by default.
    """

    law: str = "independent"

    summary: ClassVar[str] = "nonstationary: inputs bent by learned processes, exactly"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_choice("law", LAWS)
        if self.spectrum != "rbf" and self.nu == 0.5:
            raise StructureError(
                "WarpedMeasure has no nu=0.5: its cusp mixes lengthscales of any "
                "smallness, which no quadrature reaches; take nu=1.5, or SSWIM"
            )
        if self.law == "joint" and self.layers > 1:
            raise StructureError(
                f"WarpedMeasure with law='joint' expects layers=1, got {self.layers}: "
                "further layers are known by their moments point by point; take "
                "law='independent'"
            )

    @property
    def has_constant_variance(self) -> bool:
        """By the joint law only."""
        return self.law == "joint"

    @property
    def plain(self) -> Structure | None:
        """The structure without a warp; none of products over columns."""
        if self.spectrum == "rbf":
            return RBF(columns=self.columns)
        if self.spectrum == "matern" or len(self.columns) == 1:
            return Matern(self.nu, columns=self.columns)
        return None

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Kernel of the columns."""
        return WarpedMeasureKernel(
            space.columns(self.columns),
            self.spectrum,
            self.nu,
            self.layers,
            self.pseudo_points,
            self.moments == "plug-in",
            self.law,
            space.batch_shape,
        )

    def contains(self, other: Structure) -> bool:
        """Not waves, though a fit of theirs starts one of this: they come near it."""
        is_near = isinstance(other, _Warped) and other != self
        return not is_near and super().contains(other)

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        is_other = isinstance(parent, _Warped) and not isinstance(parent, WarpedMeasure)
        if is_other and self.law == "independent":
            here, there = self.canonical(), parent.canonical()
            assert isinstance(here, _Warped)
            assert isinstance(there, _Warped)
            return ({"": ""}, {}) if here._shared == there._shared else None
        return super()._lift(parent)
