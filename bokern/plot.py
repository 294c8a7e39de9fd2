"""All figures, by short names.

Each function returns a plotly figure: ``figure.show()`` opens it, a notebook shows it
by itself, ``figure.write_html("figure.html")`` writes it as a page, and
``caption_of(figure)`` says what it shows and in which units. Functions
that draw a model take a comparison, a fitted model, an optimisation or a study; of the
last two they fit the structure that was supported best to all trials, once a call:
``model = bokern.plot.modelled(study)`` does it once for several figures.
"""

from __future__ import annotations

from bokern.reporting.attempts import search_course
from bokern.reporting.bars import evidence_bars as leaderboard
from bokern.reporting.by_structure import structure_posteriors
from bokern.reporting.calibration import leave_one_out_calibration as calibration
from bokern.reporting.contours import posterior_contours as contours
from bokern.reporting.front import pareto_front as pareto
from bokern.reporting.hidden import hidden_functions
from bokern.reporting.history import optimization_history as history
from bokern.reporting.importances import parameter_importances as importances
from bokern.reporting.limits import outcome_limits as constraints
from bokern.reporting.parallel import parallel_coordinates
from bokern.reporting.parts import decomposition
from bokern.reporting.regret_curve import regret
from bokern.reporting.shares import variance_shares
from bokern.reporting.slices import posterior_slices as slices
from bokern.reporting.structure_history import structure_probabilities
from bokern.reporting.surrogate import modelled
from bokern.reporting.theme import caption_of
from bokern.reporting.warp import learned_warp as warp

__all__ = [
    "calibration",
    "caption_of",
    "constraints",
    "contours",
    "decomposition",
    "hidden_functions",
    "history",
    "importances",
    "leaderboard",
    "modelled",
    "parallel_coordinates",
    "pareto",
    "regret",
    "search_course",
    "slices",
    "structure_posteriors",
    "structure_probabilities",
    "variance_shares",
    "warp",
]
