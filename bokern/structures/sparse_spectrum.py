"""Sums of finitely many waves as structures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from bokern.errors import StructureError
from bokern.kernels import Columns, SparseSpectrumKernel, StructureKernel
from bokern.kernels.stationary import MATERN_NUS
from bokern.spectral import SPECTRA, Frequencies
from bokern.structures.base import KernelSpace, Structure
from bokern.structures.classical import _Leaf
from bokern.views.groups import Group

MAX_FREQUENCIES = 4096
"""Beyond this the matrix of 2M features takes longer than most dense covariances."""


@dataclass(frozen=True, repr=False, kw_only=True)
class _Spectral(_Leaf):
    """A Matérn, one for each column, or a squared exponential, in some other form."""

    spectrum: str = "matern"
    nu: float = 2.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spectrum not in SPECTRA:
            raise StructureError(
                f"{type(self).__name__} expects spectrum to be one of "
                f"{', '.join(SPECTRA)}, got {self.spectrum!r:.60}"
            )
        if isinstance(self.nu, bool) or self.nu not in MATERN_NUS:
            raise StructureError(
                f"{type(self).__name__} expects nu to be one of "
                f"{', '.join(map(str, MATERN_NUS))}, got {self.nu!r:.60}; "
                "spectrum='rbf' is the limit for large nu"
            )
        object.__setattr__(self, "nu", float(self.nu))

    def _check_whole(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            raise StructureError(
                f"{type(self).__name__} expects a whole number {least} <= {name} <= "
                f"{most}, got {value!r:.60}"
            )

    def canonical(self) -> Structure:
        """With the columns in order, and without a smoothness that has no meaning."""
        node = super().canonical()
        if self.spectrum != "rbf":
            return node
        assert isinstance(node, _Spectral)
        return replace(node, nu=2.5)

    def is_symmetric_under(self, group: Group) -> bool:
        """Only where the group moves no column read: what was drawn has a direction.

        An average over the group is made of averaged waves or warps.
        """
        return bool(self.columns) and not set(group.moved()) & set(self.columns)


@dataclass(frozen=True, repr=False, kw_only=True)
class SparseSpectrum(_Spectral):
    """A Matérn or squared exponential as a sum of waves of random frequencies.

    For many observations, and for draws that are whole functions: a fit of n rows costs
    O(n M²), and `bokern.fit` weighs the 2M features rather than factorise n rows.

    Args:
        spectrum: ``"rbf"``, ``"matern"``, or ``"product-matern"``, a product of Matérns
            of one column each.
        nu: Smoothness of a Matérn.
        frequencies: M.
        seed: Of the frequencies: another one is another prior.
        columns: Columns read; all by default.
    """

    frequencies: int = 256
    seed: int = 0

    summary: ClassVar[str] = "a stationary kernel as a sum of waves, for many rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_whole("frequencies", 1, MAX_FREQUENCIES)
        self._check_whole("seed", 0, 2**31 - 1)

    @property
    def constant_at(self) -> Mapping[str, float]:
        """As other leaves, but for the heavy tails of ν = ½."""
        rough = self.spectrum != "rbf" and self.nu == 0.5
        return {} if rough else super().constant_at

    def correlation(self, space: KernelSpace) -> StructureKernel:
        """Kernel of the columns, with frequencies of this seed."""
        columns = space.columns(self.columns)
        return SparseSpectrumKernel(columns, self._drawn(columns), space.batch_shape)

    def _drawn(self, columns: Columns) -> Frequencies:
        return Frequencies(
            self.spectrum, self.nu, self.frequencies, columns.size, self.seed
        )
