"""Optimise black boxes with structures chosen by evidence, by themselves or by ask."""

from __future__ import annotations

import logging

# Ax announces its SQL storage as it is imported, to everyone who minimises.
logging.getLogger("ax.storage.sqa_store.with_db_settings_base").addFilter(
    lambda record: "initialized with SQLAlchemy" not in record.getMessage()
)

from bokern.optimize.loop import minimize  # noqa: E402
from bokern.optimize.repair import Repair, repair  # noqa: E402
from bokern.optimize.result import OptimizationResult  # noqa: E402
from bokern.optimize.space import Choice, choice  # noqa: E402
from bokern.optimize.study import Study  # noqa: E402
from bokern.optimize.trial import Trial  # noqa: E402

__all__ = [
    "Choice",
    "OptimizationResult",
    "Repair",
    "Study",
    "Trial",
    "choice",
    "minimize",
    "repair",
]
