"""The structures that are compared when the user names none."""

from __future__ import annotations

__all__ = ["MULTIVARIATE", "UNIVARIATE", "default_structures"]

UNIVARIATE = (
    "RBF()",
    "Matern(2.5)",
    "RationalQuadratic()",
    "DeepSE()",
    "Linear()+Periodic()",
    "Linear()+Matern(2.5)",
    "Linear()+RBF()*Periodic()",
    "RBF()*Periodic()+RBF()+RationalQuadratic()",
    "Kumaraswamy(Matern(2.5))",
)
"""Smooth, rough, many scales, deep, trends with periods, a warp of the input."""

MULTIVARIATE = (
    "RBF()",
    "Matern(2.5)",
    "RationalQuadratic()",
    "Linear()",
    "Linear()+Matern(2.5)",
    "Kumaraswamy(Matern(2.5))",
    "DeepSE()",
)


def default_structures(columns: int) -> tuple[str, ...]:
    """The list for data of so many input columns."""
    return UNIVARIATE if columns == 1 else MULTIVARIATE
