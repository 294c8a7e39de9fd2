"""Studies of the evidence: does it find the structure that made the data?"""

from benchmarks.evidence.commands import add_commands

__all__ = ["add_commands"]
