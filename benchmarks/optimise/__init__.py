"""Optimisers side by side: same objectives, same initial points, same budgets."""

from benchmarks.optimise.commands import add_commands

__all__ = ["add_commands"]
