"""Which prior the data support: structures ranked by their evidence."""

from bokern.selection.comparison import Comparison
from bokern.selection.ranking import compare
from bokern.selection.searching import search
from bokern.selection.structure_prior import structure_log_prior

__all__ = ["Comparison", "compare", "search", "structure_log_prior"]
