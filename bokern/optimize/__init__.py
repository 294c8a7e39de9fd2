"""Optimise black boxes with structures chosen by evidence, by themselves or by ask."""

from __future__ import annotations

from bokern.optimize.loop import minimize
from bokern.optimize.repair import Repair, repair
from bokern.optimize.result import OptimizationResult
from bokern.optimize.space import Choice, choice
from bokern.optimize.study import Study
from bokern.optimize.trial import Trial

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
