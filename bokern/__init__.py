"""Bayesian optimisation in which the evidence chooses the prior.

The public names are loaded when they are first used, so that ``import bokern`` brings
neither Ax nor pandas nor a plotting library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bokern.build import fit
    from bokern.optimize import Study, choice, minimize
    from bokern.reporting import report
    from bokern.selection import Comparison, compare, search

__version__ = "0.1.0"

_HOMES = {
    "Comparison": "bokern.selection",
    "Study": "bokern.optimize",
    "choice": "bokern.optimize",
    "compare": "bokern.selection",
    "fit": "bokern.build",
    "minimize": "bokern.optimize",
    "report": "bokern.reporting",
    "search": "bokern.selection",
}

_MODULES = (
    "acquisition",
    "ax",
    "errors",
    "models",
    "plot",
    "problems",
    "reporting",
    "structures",
)

__all__ = [
    "Comparison",
    "Study",
    "__version__",
    "choice",
    "compare",
    "fit",
    "minimize",
    "report",
    "search",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"bokern.{name}")
    raise AttributeError(f"module 'bokern' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
