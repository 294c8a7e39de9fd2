"""Regression on measured data: the averaged search beside a Matérn with ARD."""

from benchmarks.regression.commands import add_commands

__all__ = ["add_commands"]
