"""How well a fitted model's prior explains its data, in nats of the raw targets."""

from bokern.evidence.bic import bic
from bokern.evidence.blindness import is_blind, symmetry_divergence
from bokern.evidence.data import data_fingerprint, log_jacobian
from bokern.evidence.laplace import laplace
from bokern.evidence.loo import LeaveOneOut, leave_one_out
from bokern.evidence.plug_in import plug_in
from bokern.evidence.result import FLAGS, Evidence, preference

__all__ = [
    "FLAGS",
    "Evidence",
    "LeaveOneOut",
    "bic",
    "data_fingerprint",
    "is_blind",
    "laplace",
    "leave_one_out",
    "log_jacobian",
    "plug_in",
    "preference",
    "symmetry_divergence",
]
