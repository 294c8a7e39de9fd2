"""The command line: thin, and quick until a command has real work to do."""

from __future__ import annotations

from bokern.cli.entry import main

__all__ = ["main"]
