"""Symmetries and warps that are claimed where there are none."""

from benchmarks.alarms.commands import add_commands

__all__ = ["add_commands"]
