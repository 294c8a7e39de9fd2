"""Which of seven structures made the data? A confusion matrix."""

from benchmarks.identify.commands import add_commands

__all__ = ["add_commands"]
