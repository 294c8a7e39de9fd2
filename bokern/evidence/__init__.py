"""How well a fitted model's prior explains its data, in nats of the raw targets."""

from bokern.evidence.bic import bic
from bokern.evidence.blindness import is_blind, symmetry_divergence
from bokern.evidence.data import data_fingerprint, log_jacobian
from bokern.evidence.laplace import laplace, laplace_integral
from bokern.evidence.loo import LeaveOneOut, leave_one_out
from bokern.evidence.plug_in import plug_in
from bokern.evidence.result import AVERAGE_WITHIN, FLAGS, Evidence, preference
from bokern.evidence.smc import SMCResult, run_smc, smc, smc_applies

__all__ = [
    "AVERAGE_WITHIN",
    "FLAGS",
    "Evidence",
    "LeaveOneOut",
    "SMCResult",
    "bic",
    "data_fingerprint",
    "is_blind",
    "laplace",
    "laplace_integral",
    "leave_one_out",
    "log_jacobian",
    "plug_in",
    "preference",
    "run_smc",
    "smc",
    "smc_applies",
    "symmetry_divergence",
]
