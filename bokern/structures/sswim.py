"""Warped measures as structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from bokern.errors import StructureError
from bokern.kernels import SSWIMKernel, StructureKernel
from bokern.structures.base import KernelSpace, Structure
from bokern.structures.sparse_spectrum import SparseSpectrum

MAX_LAYERS, MAX_PLACES = 8, 1024
MOMENTS = ("matched", "plug-in")


@dataclass(frozen=True, repr=False, kw_only=True)
class SSWIM(SparseSpectrum):
    """Waves on inputs that Gaussian processes multiply and add to, learned.

    Nonstationary, for many observations. Few pseudo-targets, with noise, at fixed
    places bend the inputs; what is unknown of the bending fades the waves.

    Args:
        layers: Warps, one after the other.
        pseudo_points: Places at which each is given targets.
        moments: ``"matched"``, or ``"plug-in"`` as in the published code, which loses
            uncertainty from the second layer on.
        spectrum: As of `SparseSpectrum`.
        nu: As of `SparseSpectrum`.
        frequencies: As of `SparseSpectrum`.
        seed: As of `SparseSpectrum`.
        columns: As of `SparseSpectrum`.
    """

    spectrum: str = "product-matern"
    nu: float = 1.5
    layers: int = 1
    pseudo_points: int = 8
    moments: str = "matched"

    summary: ClassVar[str] = (
        "nonstationary: inputs bent by learned processes, many rows"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_whole("layers", 1, MAX_LAYERS)
        self._check_whole("pseudo_points", 1, MAX_PLACES)
        if self.moments not in MOMENTS:
            raise StructureError(
                f"SSWIM expects moments to be one of {', '.join(MOMENTS)}, got "
                f"{self.moments!r:.60}"
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
    def has_constant_variance(self) -> bool:
        """No: it falls where the warp is unknown."""
        return False

    @property
    def constant_at(self) -> Mapping[str, float]:
        """Nowhere."""
        return {}

    @property
    def plain(self) -> SparseSpectrum:
        """The waves without a warp."""
        return SparseSpectrum(
            spectrum=self.spectrum,
            nu=self.nu,
            frequencies=self.frequencies,
            seed=self.seed,
            columns=self.columns,
        )

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Kernel of the columns, with frequencies of this seed."""
        columns = space.columns(self.columns)
        return SSWIMKernel(
            columns,
            self._drawn(columns),
            self.layers,
            self.pseudo_points,
            self.moments == "plug-in",
            space.batch_shape,
        )

    def _lift(
        self, parent: Structure
    ) -> tuple[dict[str, str], dict[str, float]] | None:
        if parent.canonical() != self.plain.canonical():
            return None
        own = ("raw_outputscale", "base_kernel.raw_lengthscale")
        still = {f"base_kernel.{n}": value for n, value in SSWIMKernel.waits.items()}
        return {name: name for name in own}, still
