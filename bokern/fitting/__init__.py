"""One objective for fitting and for evidence, and its maximiser."""

from bokern.fitting.by_autograd import AutogradLogPosterior
from bokern.fitting.curvature import Curvature
from bokern.fitting.deadline import check_time, time_limit
from bokern.fitting.log_posterior import GaussianNoise, LogPosterior
from bokern.fitting.map import GRADIENT_TOLERANCE, FitResult, fit_map
from bokern.fitting.scout import Scouted, scout
from bokern.fitting.starts import draw_starts, screen_starts

__all__ = [
    "GRADIENT_TOLERANCE",
    "AutogradLogPosterior",
    "Curvature",
    "FitResult",
    "GaussianNoise",
    "LogPosterior",
    "Scouted",
    "check_time",
    "draw_starts",
    "fit_map",
    "scout",
    "screen_starts",
    "time_limit",
]
