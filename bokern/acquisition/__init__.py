"""Acquisitions that BoTorch lacks: scheduled GP-UCB, LogEI with points pending, spread.

`Uncertainty` is the spread of a model that takes its observations for exact.
"""

from __future__ import annotations

from bokern.acquisition.input_constructors import register_input_constructors
from bokern.acquisition.log_ei import LogEI
from bokern.acquisition.schedules import ContinuousSchedule, FiniteSchedule, Schedule
from bokern.acquisition.ucb import GPUCB
from bokern.acquisition.uncertainty import Uncertainty

__all__ = [
    "GPUCB",
    "ContinuousSchedule",
    "FiniteSchedule",
    "LogEI",
    "Schedule",
    "Uncertainty",
    "register_input_constructors",
]

register_input_constructors()
