"""Ax with surrogates chosen by evidence.

Importing this module registers bokern's classes with Ax's JSON and SQL storage.
"""

from __future__ import annotations

from bokern.ax.analysis import StructureAnalysis
from bokern.ax.choice import AUTO
from bokern.ax.history import structure_history
from bokern.ax.loading import load
from bokern.ax.node import StructureNode
from bokern.ax.record import StructureRecord, newest_record, record_of
from bokern.ax.registration import register
from bokern.ax.strategy import generation_strategy

__all__ = [
    "AUTO",
    "StructureAnalysis",
    "StructureNode",
    "StructureRecord",
    "generation_strategy",
    "load",
    "newest_record",
    "record_of",
    "register",
    "structure_history",
]

register()
