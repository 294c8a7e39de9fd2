"""BoTorch models built from structures."""

from bokern.models.exact import StructuredGP
from bokern.models.mixture import MixtureGP

__all__ = ["MixtureGP", "StructuredGP"]
