"""Priors as data: frozen expressions that are compared, stored and built."""

from bokern.structures.base import SCHEMA_VERSION, KernelSpace, Structure
from bokern.structures.catalogue import CatalogueEntry, catalogue
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
from bokern.structures.parse import as_structure, parse
from bokern.structures.sparse_spectrum import SparseSpectrum
from bokern.structures.sswim import SSWIM
from bokern.structures.warped import Kumaraswamy
from bokern.structures.warped_measure import WarpedMeasure
from bokern.views.groups import (
    Group,
    closure,
    cyclic,
    permutations,
    product,
    reflections,
    sign_flips,
    swap,
)

__all__ = [
    "RBF",
    "SCHEMA_VERSION",
    "SSWIM",
    "CatalogueEntry",
    "ChangePoint",
    "ConditionalDeep",
    "DeepSE",
    "Group",
    "Invariant",
    "KernelSpace",
    "Kumaraswamy",
    "Linear",
    "Matern",
    "Periodic",
    "Product",
    "RationalQuadratic",
    "SparseSpectrum",
    "Structure",
    "Sum",
    "WarpedMeasure",
    "as_structure",
    "catalogue",
    "closure",
    "cyclic",
    "parse",
    "permutations",
    "product",
    "reflections",
    "sign_flips",
    "swap",
]
