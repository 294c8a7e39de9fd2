"""Surrogates of functions that change their character, from few evaluations."""

from benchmarks.surrogates.commands import add_commands

__all__ = ["add_commands"]
