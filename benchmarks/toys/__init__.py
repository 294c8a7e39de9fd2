"""Functions of one input that change their character along it."""

from benchmarks.toys.commands import add_commands

__all__ = ["add_commands"]
