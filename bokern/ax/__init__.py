"""Ax with surrogates chosen by evidence.

Importing this module registers bokern's classes with Ax's JSON and SQL storage.
"""

from __future__ import annotations

import logging

# Ax announces its SQL storage as it is imported, to everyone who minimises.
logging.getLogger("ax.storage.sqa_store.with_db_settings_base").addFilter(
    lambda record: "initialized with SQLAlchemy" not in record.getMessage()
)

from bokern.ax.analysis import StructureAnalysis  # noqa: E402
from bokern.ax.choice import AUTO  # noqa: E402
from bokern.ax.history import structure_history  # noqa: E402
from bokern.ax.loading import load  # noqa: E402
from bokern.ax.node import StructureNode  # noqa: E402
from bokern.ax.record import StructureRecord, newest_record, record_of  # noqa: E402
from bokern.ax.registration import register  # noqa: E402
from bokern.ax.strategy import generation_strategy  # noqa: E402

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
