"""Which structures a node is offered, and what the evidence makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from bokern.errors import SpaceError, StructureError
from bokern.seeding import generator
from bokern.selection import Comparison
from bokern.structures import Matern, Structure, as_structure

AUTO = "auto"
"""Structures are searched for, by the grammar of the search space."""

FALLBACK: Structure = Matern(2.5)
"""What is fitted when the structures cannot be, and before there are enough trials."""

MIXED = 4
"""Members of a mixture at most: an acquisition is evaluated under each."""

SELECTIONS = ("winner", "mixture", "draw")
"""The best structure, all close ones weighted, or one of these drawn for each trial."""

Structures = str | Structure | Sequence[str | Structure]


def offered(structures: Structures) -> tuple[Structure, ...]:
    """The structures to choose from, the first being the one to begin with.

    Args:
        structures: ``"auto"``, one structure or its text, or a list of these.

    Returns:
        For ``"auto"`` the one to begin with alone.

    Raises:
        StructureError: If there is none, one is unknown, or one is listed twice.
    """
    if is_auto(structures):
        return (FALLBACK,)
    if isinstance(structures, str | Structure):
        return (as_structure(structures),)
    if not isinstance(structures, Sequence):
        raise StructureError(
            "structures= expects 'auto', a structure such as Matern(2.5), or a list of "
            f"structures, got {type(structures).__name__}"
        )
    found = tuple(as_structure(each) for each in structures)
    if not found:
        raise StructureError("structures= is empty: list at least one, or use 'auto'")
    if len(set(found)) < len(found):
        raise StructureError(
            f"structures= lists a structure twice: {', '.join(map(str, found))}"
        )
    return found


def is_auto(structures: Structures) -> bool:
    """Whether structures are to be searched for."""
    return structures == AUTO or structures == [AUTO]


def check_selection(selection: str) -> str:
    """The name itself, if there is such a way to select.

    Raises:
        SpaceError: If there is none.
    """
    if selection not in SELECTIONS:
        raise SpaceError(
            f"unknown selection {selection!r}: expected one of {', '.join(SELECTIONS)}"
        )
    return selection


def weights(comparison: Comparison, selection: str) -> dict[str, float]:
    """The structures to use, by their text, with weights that sum to one.

    The winner alone, or the members of the comparison's average; of a mixture, the
    weightiest.
    """
    if selection == "winner":
        return {str(comparison.best): 1.0}
    members, shares = comparison.averaged()
    chosen = {str(m.structure): w for m, w in zip(members, shares, strict=True)}
    if selection == "mixture":
        kept = sorted(chosen, key=lambda text: -chosen[text])[:MIXED]
        total = sum(chosen[text] for text in kept)
        chosen = {text: chosen[text] / total for text in kept}
    return chosen


def heaviest(chosen: dict[str, float]) -> dict[str, float]:
    """The structure of largest weight alone."""
    return {max(chosen, key=lambda text: chosen[text]): 1.0}


def drawn(chosen: dict[str, float], *seed: object) -> dict[str, float]:
    """One structure, drawn with its weight as its probability."""
    texts = list(chosen)
    share = torch.tensor([chosen[text] for text in texts], dtype=torch.float64)
    number = torch.multinomial(share, 1, generator=generator(*seed))
    return {texts[int(number)]: 1.0}


def evidence_of(comparison: Comparison) -> dict[str, dict[str, float]]:
    """Log evidence, its standard error and the probability of each structure."""
    names = ["log_evidence", "standard_error", "probability"]
    return {
        str(row["structure"]): {name: float(row[name]) for name in names}
        for _, row in comparison.table.iterrows()
    }
