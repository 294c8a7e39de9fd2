"""Which model a structure gets: the same posterior at the least cost."""

from __future__ import annotations

from bokern.errors import InputError
from bokern.models.exact import StructuredGP
from bokern.models.state_space import StateSpaceGP, has_markov_state
from bokern.models.weight_space import WeightSpaceGP, has_weights
from bokern.structures import Structure

MODELS: dict[str, type[StructuredGP]] = {
    "exact": StructuredGP,
    "kalman": StateSpaceGP,
    "weights": WeightSpaceGP,
}
INFERENCES = ("auto", *MODELS)

KALMAN_FROM = 200
"""From so many observations on, a structure with a Markov state is filtered. Fit and
evidence then take as long either way at n = 150, and a fifth as long at 300."""


def model_class(
    structure: Structure, dim: int, n: int, inference: str = "auto"
) -> type[StructuredGP]:
    """The class of model for a structure and its data.

    Args:
        structure: Its columns by number.
        dim: Number of columns.
        n: Number of observations.
        inference: ``"exact"`` for dense covariances, ``"kalman"`` for a filter and
            ``"weights"`` for the weights of features, which raise for structures that
            have none; ``"auto"`` for the cheapest.

    Raises:
        InputError: If ``inference`` is none of these.
    """
    if inference not in INFERENCES:
        raise InputError(
            f"inference is expected as one of {', '.join(INFERENCES)}, got "
            f"{inference!r:.60}"
        )
    if inference == "auto":
        inference = "exact"
        if has_weights(structure, dim, n):
            inference = "weights"
        elif n >= KALMAN_FROM and has_markov_state(structure, dim):
            inference = "kalman"
    return MODELS[inference]
