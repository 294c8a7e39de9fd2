"""Frequencies of stationary covariances, and what is expected of their features."""

from bokern.spectral.frequencies import SPECTRA, Frequencies, unit_frequencies

__all__ = ["SPECTRA", "Frequencies", "unit_frequencies"]
