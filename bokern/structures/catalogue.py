"""What structures there are."""

from __future__ import annotations

from dataclasses import dataclass

from bokern.structures.base import Structure
from bokern.structures.change_point import ChangePoint
from bokern.structures.classical import (
    RBF,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
)
from bokern.structures.composite import Product, Sum
from bokern.structures.conditional_deep import ConditionalDeep
from bokern.structures.deep import DeepSE
from bokern.structures.invariant import Invariant
from bokern.structures.sparse_spectrum import SparseSpectrum
from bokern.structures.sswim import SSWIM
from bokern.structures.warped import Kumaraswamy
from bokern.structures.warped_measure import WarpedMeasure
from bokern.views.groups import permutations


@dataclass(frozen=True)
class CatalogueEntry:
    """One kind of structure: text that parses, its family, and a line about it."""

    text: str
    family: str
    summary: str


EXAMPLES: tuple[Structure, ...] = (
    RBF(),
    Matern(2.5),
    RationalQuadratic(),
    Periodic(),
    Linear(),
    Kumaraswamy(Matern(2.5)),
    DeepSE(),
    ConditionalDeep(),
    SparseSpectrum(),
    SSWIM(),
    WarpedMeasure(),
    Invariant(Matern(2.5), permutations(3)),
    Sum((Linear(), RBF())),
    Product((Periodic(), RBF())),
    ChangePoint(RBF(), RBF()),
)
"""One structure of each kind."""


def catalogue() -> tuple[CatalogueEntry, ...]:
    """All kinds of structures."""
    return tuple(CatalogueEntry(str(s), s.family, s.summary) for s in EXAMPLES)
