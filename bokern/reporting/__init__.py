"""Figures and the HTML page: the only room that imports plotting and templates.

Each figure is a function that returns a plotly figure, whose caption is read by
``caption_of``; ``report`` puts them, the tables and the provenance on one page.
"""

from __future__ import annotations

from bokern.reporting.attempts import search_course
from bokern.reporting.bars import evidence_bars
from bokern.reporting.by_structure import structure_posteriors
from bokern.reporting.calibration import leave_one_out_calibration
from bokern.reporting.contours import posterior_contours
from bokern.reporting.front import pareto_front
from bokern.reporting.hidden import hidden_functions
from bokern.reporting.history import optimization_history
from bokern.reporting.importances import parameter_importances
from bokern.reporting.limits import outcome_limits
from bokern.reporting.page import report
from bokern.reporting.parallel import parallel_coordinates
from bokern.reporting.parts import decomposition
from bokern.reporting.regret_curve import regret
from bokern.reporting.shares import variance_shares
from bokern.reporting.slices import posterior_slices
from bokern.reporting.structure_history import structure_probabilities
from bokern.reporting.surrogate import modelled
from bokern.reporting.theme import caption_of
from bokern.reporting.warp import learned_warp

__all__ = [
    "caption_of",
    "decomposition",
    "evidence_bars",
    "hidden_functions",
    "learned_warp",
    "leave_one_out_calibration",
    "modelled",
    "optimization_history",
    "outcome_limits",
    "parallel_coordinates",
    "parameter_importances",
    "pareto_front",
    "posterior_contours",
    "posterior_slices",
    "regret",
    "report",
    "search_course",
    "structure_posteriors",
    "structure_probabilities",
    "variance_shares",
]
