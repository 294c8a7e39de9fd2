"""A fit of one structure as a start of another."""

from __future__ import annotations

import torch
from torch import Tensor

from bokern.fitting.log_posterior import Coordinate
from bokern.kernels import Columns, StructureKernel
from bokern.models.exact import StructuredGP
from bokern.structures.correspondence import LogScale
from bokern.structures.transfer import transfer

KERNEL = "covar_module."


def transferred_start(
    child: StructuredGP, parent: StructuredGP
) -> tuple[Tensor, Tensor]:
    """A fit of one structure as a start of another, as well as may be.

    New parts stand at their identity where they have one, else where the child's
    model is; see `bokern.structures.transfer`. Where a group ties columns, or unties
    them, a column starts from its own value, and tied ones from the mean of theirs.

    Args:
        child: Model on data of the same columns, without batch dimensions.
        parent: Fitted, or with a stored θ set.

    Returns:
        θ of the child, ``k``, and which of its coordinates are carried over, ``k``.
        To search among starts, draw the others anew and leave these: at the identity
        itself the gradient of a new part all but vanishes.
    """
    kept = transfer(child.structure, parent.structure)
    target, source = child.log_posterior(), parent.log_posterior()
    theta, given = target.get(), source.get()
    there = {c.name: c for c in source.coordinates}
    carried = torch.zeros_like(theta, dtype=torch.bool)
    for c in target.coordinates:
        name = c.name.removeprefix(KERNEL)
        origin = c.name if name == c.name else f"{KERNEL}{kept.source(name)}"
        if name in kept.identity:
            theta[c.span] = kept.identity[name]
        elif name in kept.scales:
            theta[c.span] = _log_variance(kept.scales[name], there, given)
            carried[c.span] = not kept.is_new(name)
        elif origin in there:
            move = _move(
                c, child.covar_module, there[origin], parent.covar_module, given
            )
            counts = move.sum(-1)
            value = move @ given[there[origin].span] / counts.clamp_min(1.0)
            theta[c.span] = torch.where(counts > 0, value, theta[c.span])
            carried[c.span] = (counts > 0) & (not kept.is_new(name))
    return theta, carried


def _log_variance(
    scale: LogScale, there: dict[str, Coordinate], given: Tensor
) -> Tensor:
    terms = (count * given[there[KERNEL + name].span] for name, count in scale.terms)
    return sum(terms, given.new_tensor([scale.offset]))


def _move(
    here: Coordinate,
    child: StructureKernel,
    there: Coordinate,
    parent: StructureKernel,
    like: Tensor,
) -> Tensor:
    """How often each of the parent's values stands in each of the child's.

    Returns:
        One row a value of the child, of what its columns had in the parent.
    """
    want, have = _columns(here, child), _columns(there, parent)
    if want is None or have is None:
        return like.new_ones(1, 1)
    mine, theirs = (torch.nn.functional.one_hot(c.slot).to(like) for c in (want, have))
    same = want.index.unsqueeze(-1) == have.index
    return mine.mT @ same.to(like) @ theirs


def _columns(coordinate: Coordinate, kernel: StructureKernel) -> Columns | None:
    """The columns that a hyperparameter has a value for each of, if it has."""
    if not coordinate.shape or not coordinate.name.startswith(KERNEL):
        return None
    path = coordinate.name.removeprefix(KERNEL).rpartition(".")[0]
    owner = kernel.get_submodule(path)
    return next((m for m in owner.children() if isinstance(m, Columns)), None)
