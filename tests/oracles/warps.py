"""The Kumaraswamy distribution function, by SciPy's beta law."""

from __future__ import annotations

from scipy.stats import beta


def kumaraswamy(u, a, b):
    """If V ~ Beta(1, b) then V^(1/a) has the law of Kumaraswamy(a, b)."""
    return beta(1.0, b).cdf(u**a)
