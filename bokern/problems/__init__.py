"""Test functions and data sets whose optimum or structure is known."""

from bokern.problems.draws import InvariantDraw
from bokern.problems.nonstationary import Gramacy2D, GramacyLee, Xiong
from bokern.problems.packing import Pack5
from bokern.problems.problem import Problem
from bokern.problems.samples import (
    Sample,
    stationary_sample,
    swap_sample,
    warped_sample,
)
from bokern.problems.shipped import Ackley5, Branin, Bukin6, Hartmann6, Michalewicz5

__all__ = [
    "Ackley5",
    "Branin",
    "Bukin6",
    "Gramacy2D",
    "GramacyLee",
    "Hartmann6",
    "InvariantDraw",
    "Michalewicz5",
    "Pack5",
    "Problem",
    "Sample",
    "Xiong",
    "stationary_sample",
    "swap_sample",
    "warped_sample",
]
