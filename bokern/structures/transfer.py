"""How the fit of one structure starts that of another."""

from __future__ import annotations

from bokern.structures.base import Structure
from bokern.structures.correspondence import Transfer
from bokern.structures.matching import match
from bokern.structures.places import places


def transfer(child: Structure, parent: Structure) -> Transfer:
    """How a fit of ``parent`` starts one of ``child``, as well as may be.

    Finds the parts that the two share, in whatever order and under whatever wrappers
    they stand, and so works for any two structures: where `Structure.lift` would be
    exact but leave the prior far behind, as in a product, and where it has nothing to
    say, as for a kernel in place of another.

    Args:
        child: A resolved structure.
        parent: A resolved structure over the same columns.
    """
    return match(places(child), places(parent)).transfer
