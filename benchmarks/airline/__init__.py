"""Is the best optimum of one structure found, whatever the seed?"""

from benchmarks.airline.commands import add_commands

__all__ = ["add_commands"]
