"""Acquisitions: scheduled GP-UCB, LogEI with points pending, Thompson, looking ahead.

`Uncertainty` is the spread of a model that takes its observations for exact.
"""

from __future__ import annotations

from bokern.acquisition.feasible import Feasible, OutcomesFeasible
from bokern.acquisition.input_constructors import register_input_constructors
from bokern.acquisition.integrated_variance import IntegratedVariance
from bokern.acquisition.knowledge_gradient import KnowledgeGradient
from bokern.acquisition.log_ei import LogEI
from bokern.acquisition.max_value import MaxValueEntropy
from bokern.acquisition.schedules import ContinuousSchedule, FiniteSchedule, Schedule
from bokern.acquisition.thompson import ThompsonSample
from bokern.acquisition.ucb import GPUCB
from bokern.acquisition.uncertainty import Uncertainty

__all__ = [
    "GPUCB",
    "ContinuousSchedule",
    "Feasible",
    "FiniteSchedule",
    "IntegratedVariance",
    "KnowledgeGradient",
    "LogEI",
    "MaxValueEntropy",
    "OutcomesFeasible",
    "Schedule",
    "ThompsonSample",
    "Uncertainty",
    "register_input_constructors",
]

register_input_constructors()
