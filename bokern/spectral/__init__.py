"""Frequencies of stationary covariances, and what is expected of their features."""

from bokern.spectral.frequencies import SPECTRA, Frequencies, unit_frequencies
from bokern.spectral.moments import (
    expected_features,
    expected_products,
    expected_rbf,
    expected_rbf_products,
    function_variance,
)

__all__ = [
    "SPECTRA",
    "Frequencies",
    "expected_features",
    "expected_products",
    "expected_rbf",
    "expected_rbf_products",
    "function_variance",
    "unit_frequencies",
]
