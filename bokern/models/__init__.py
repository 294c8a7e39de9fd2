"""BoTorch models built from structures."""

from bokern.models.direct import DirectGP
from bokern.models.exact import StructuredGP
from bokern.models.mixture import MixtureGP, integrated
from bokern.models.state_space import StateSpaceGP, has_markov_state
from bokern.models.success import SuccessGP
from bokern.models.weight_paths import KernelFeatures
from bokern.models.weight_space import WeightSpaceGP, has_weights

__all__ = [
    "DirectGP",
    "KernelFeatures",
    "MixtureGP",
    "StateSpaceGP",
    "StructuredGP",
    "SuccessGP",
    "WeightSpaceGP",
    "has_markov_state",
    "has_weights",
    "integrated",
]
