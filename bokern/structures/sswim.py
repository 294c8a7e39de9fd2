"""Warped measures as structures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bokern.kernels import SSWIMKernel, StructureKernel
from bokern.structures.base import KernelSpace
from bokern.structures.sparse_spectrum import SparseSpectrum
from bokern.structures.warped_measure import WarpedMeasure, _Warped


@dataclass(frozen=True, repr=False, kw_only=True)
class SSWIM(_Warped, SparseSpectrum):
    """Waves on inputs that Gaussian processes multiply and add to, learned.

    Nonstationary, for many observations. Few pseudo-targets, with noise, at fixed
    places bend the inputs; what is unknown of the bending fades the waves.

    Args:
        layers: As of `WarpedMeasure`.
        pseudo_points: As of `WarpedMeasure`.
        moments: As of `WarpedMeasure`.
        spectrum: As of `SparseSpectrum`.
        nu: As of `SparseSpectrum`.
        frequencies: As of `SparseSpectrum`.
        seed: As of `SparseSpectrum`.
        columns: As of `SparseSpectrum`.
    """

    summary: ClassVar[str] = (
        "nonstationary: inputs bent by learned processes, many rows"
    )

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

    @property
    def exact(self) -> WarpedMeasure:
        """The limit of infinitely many waves, with the same hyperparameters.

        Raises:
            StructureError: If ν is ½, of which there is none.
        """
        return WarpedMeasure(**self._shared)

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
