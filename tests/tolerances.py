"""Named tolerances, each with the source of its error."""

from __future__ import annotations

ROUNDING = 1e-12
"""A few operations in float64 on numbers of order 1."""

SUMS = 1e-10
"""Sums of hundreds of such terms, in two orders."""

PSD = 1e-10
"""Least eigenvalue of a covariance, relative to the largest."""

PRODUCT_DISTANCE = 1e-7
"""Squared distances by products lose 1e-16, whose root is 1e-8, at equal points."""

FLOAT32 = 2e-3
"""The same in float32: the root of a few times 1.2e-7."""

SHRUNK_CUBE = 1e-6
"""A Kumaraswamy warp moves points by 1e-7 to keep off the faces."""

BESSEL = 1e-9
"""SciPy's modified Bessel function."""

QUADRATURE = 1e-8
"""Trapezoids in the logarithm, of which the ends are cut at e^-30."""

MONTE_CARLO = 1e-2
"""2e5 draws of numbers in [0, 1]: ten standard errors at the least."""
