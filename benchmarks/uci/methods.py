"""Methods by name."""

from __future__ import annotations

from functools import partial

from benchmarks.uci.dkl import fit_dkl
from benchmarks.uci.exact import MOST_ROWS, fit_exact
from benchmarks.uci.fitted import Method
from benchmarks.uci.sgpr import fit_sgpr
from benchmarks.uci.structures import fit_structure
from benchmarks.uci.svgp import fit_svgp

WAVES = "SparseSpectrum(spectrum='product-matern', nu=1.5)"
"""What SSWIM is without a warp."""

METHODS: dict[str, Method] = {
    "sswim": partial(fit_structure, structure="SSWIM()"),
    "sswim-2": partial(fit_structure, structure="SSWIM(layers=2)"),
    "ssgp": partial(fit_structure, structure=WAVES),
    "exact": fit_exact,
    "sgpr": fit_sgpr,
    "svgp": fit_svgp,
    "dkl": fit_dkl,
}

MOST = {"exact": MOST_ROWS}
"""Training rows beyond which a method is not tried."""
