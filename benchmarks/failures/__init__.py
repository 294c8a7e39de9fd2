"""Optimisation where evaluations fail in a part of the box that nobody has told."""

from benchmarks.failures.commands import add_commands

__all__ = ["add_commands"]
