"""Regression on the tables on which warped and sparse kernels are compared."""

from benchmarks.uci.commands import add_commands

__all__ = ["add_commands"]
