"""BoTorch models built from structures."""

from bokern.models.exact import StructuredGP
from bokern.models.mixture import MixtureGP
from bokern.models.state_space import StateSpaceGP, has_markov_state

__all__ = ["MixtureGP", "StateSpaceGP", "StructuredGP", "has_markov_state"]
