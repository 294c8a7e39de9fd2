"""The table of [SSWIM], for the tables that are here."""

from __future__ import annotations

SOURCE = (
    "Tompkins, Oliveira, Ramos, *Sparse Spectrum Warped Input Measures for "
    "Nonstationary Kernel Learning*, NeurIPS 2020, table 1"
)

BESIDE = {
    "concrete": "concrete",
    "parkinsons": "parkinsons",
    "bikeshare": "bikeshare-leaky",
    "protein": "protein",
}
"""Data set of the paper, and ours that has its columns."""

ROWS = {
    "SSWIM, 1 layer": "sswim",
    "SSWIM, 2 layers": "sswim-2",
    "DSDGP": None,
    "DKL": "dkl",
    "RFFNS": None,
    "SVGP": "svgp",
    "SGPR": "sgpr",
    "RFFS": "ssgp",
}
"""Method of the paper, and ours that resembles it."""

RMSE = {
    "concrete": (0.305, 0.301, 0.588, 0.318, 0.346, 0.332, 0.555, 0.333),
    "parkinsons": (0.763, 0.755, 0.794, 0.884, 0.815, 0.814, 0.786, 0.824),
    "bikeshare": (0.013, 0.011, 0.033, 0.024, 0.005, 0.006, 0.067, 0.003),
    "protein": (0.591, 0.580, 0.596, 0.715, 0.687, 0.732, 0.645, 0.691),
}
"""Means over ten splits, in the order of ``ROWS``."""

MNLP = {
    "concrete": (1.022, 0.519, 1.102, 0.769, 0.331, 0.283, 0.848, 0.305),
    "parkinsons": (1.195, 1.250, 1.191, 1.317, 1.218, 1.221, 1.239, 1.229),
    "bikeshare": (-1.189, -1.178, -2.328, 0.682, -1.197, -2.770, -1.367, -1.198),
    "protein": (0.895, 0.882, 0.904, 1.102, 1.039, 1.110, 1.005, 1.045),
}
