"""The releases that stand in each record."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("bokern", "ax-platform", "botorch", "gpytorch", "torch", "numpy", "scipy")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a run depends on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "source tree"
    return found
