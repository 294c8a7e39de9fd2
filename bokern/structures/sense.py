"""Which structures are worth a fit."""

from __future__ import annotations

from collections import Counter

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
from bokern.structures.warped import Kumaraswamy
from bokern.structures.warped_measure import WarpedMeasure

MAX_CHANGES = 2
SPECTRAL = (SparseSpectrum, WarpedMeasure)
LOCAL = (RBF, Matern, RationalQuadratic, DeepSE, ConditionalDeep, *SPECTRAL)


def count_nodes(structure: Structure) -> int:
    """Number of nodes."""
    return sum(1 for _ in structure.nodes())


def evaluations(structure: Structure) -> int:
    """Of the innermost base for a pair of points; see `StructureKernel.evaluations`."""
    below = max((evaluations(part) for part in structure.children), default=1)
    if isinstance(structure, Invariant):
        sums = 1 if structure.uses_single_sum else 2
        return below * int(structure.group.order) ** sums
    return below


def is_sensible(structure: Structure, dim: int) -> bool:
    """Whether a resolved structure says something that a smaller one does not.

    Args:
        structure: Resolved.
        dim: Number of columns.
    """
    nodes = list(structure.nodes())
    changes = sum(isinstance(node, ChangePoint) for node in nodes)
    return changes <= MAX_CHANGES and all(_makes_sense(node, dim) for node in nodes)


def _makes_sense(node: Structure, dim: int) -> bool:
    match node:
        case Periodic():
            # Jointly periodic in several columns is a grid of bumps.
            return dim == 1 or len(node.columns) == 1
        case Sum():
            return _sum_makes_sense(node)
        case Product():
            return _product_makes_sense(node)
        case Kumaraswamy():
            bent = Kumaraswamy | ConditionalDeep
            return not any(isinstance(part, bent) for part in node.base.nodes())
        case Invariant():
            # Averaging what treats its columns unlike has more hyperparameters than
            # the average can tell apart.
            plain = not any(True for _ in node.base.groups())
            return plain and node.base.is_symmetric_under(node.group)
    return True


def _sum_makes_sense(node: Sum) -> bool:
    """Two equal parts may differ in scale; two trends, or three parts, may not."""
    counts = Counter(node.parts)
    return all(n <= (1 if isinstance(p, Linear) else 2) for p, n in counts.items())


def _product_makes_sense(node: Product) -> bool:
    """One local factor, one period a column, at most a quadratic trend.

    Two local factors on separate columns are one on both, but for the prior.
    """
    trends = sum(isinstance(part, Linear) for part in node.parts)
    local = sum(isinstance(part, LOCAL) for part in node.parts)
    periods = Counter(p for p in node.parts if isinstance(p, Periodic))
    plain = not any(isinstance(p, ChangePoint | Invariant) for p in node.parts)
    return trends <= 2 and local <= 1 and plain and max(periods.values(), default=0) < 2
