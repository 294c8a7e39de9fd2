"""BoTorch models built from structures."""

from bokern.models.exact import StructuredGP
from bokern.models.mixture import MixtureGP, integrated
from bokern.models.state_space import StateSpaceGP, has_markov_state
from bokern.models.success import SuccessGP

__all__ = [
    "MixtureGP",
    "StateSpaceGP",
    "StructuredGP",
    "SuccessGP",
    "has_markov_state",
    "integrated",
]
