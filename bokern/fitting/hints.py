"""What kernels know of where a fit should start."""

from __future__ import annotations

import torch
from torch import Tensor

from bokern.fitting.log_posterior import LogPosterior


def likely_values(objective: LogPosterior) -> dict[int, Tensor]:
    """Values that the data suggest of some coordinates, in order, by their number.

    See `StructureKernel.likely_values`. Of one data set, without batch dimensions.
    """
    spans = {c.name: c.span for c in objective.coordinates}
    found = {}
    for prefix, kernel in objective.kernels():
        for name, values in kernel.likely_values(objective.X, objective.z).items():
            if prefix + name in spans and len(values):
                found[spans[prefix + name].start] = values
    return found


def waiting(objective: LogPosterior) -> Tensor:
    """Where coordinates wait for the others in a fit, ``k``; NaN of those that do not.

    See `StructureKernel.waits`.
    """
    found = objective.z.new_full((objective.dim,), torch.nan)
    spans = {c.name: c.span for c in objective.coordinates}
    for prefix, kernel in objective.kernels():
        for name, value in kernel.waits.items():
            if prefix + name in spans:
                found[spans[prefix + name]] = value
    return found


def advised_starts(objective: LogPosterior) -> Tensor:
    """Starts that kernels advise, ``w x k``; see `StructureKernel.advised_starts`.

    Each differs from the prior's centre where its own kernel says.
    """
    spans = {c.name: c.span for c in objective.coordinates}
    centre, _ = objective.prior_moments()
    found = [centre.new_empty(0, objective.dim)]
    for prefix, kernel in objective.kernels():
        for advised in kernel.advised_starts():
            start = centre.clone()
            for name, value in advised.items():
                if prefix + name in spans:
                    start[spans[prefix + name]] = value
            found.append(start.unsqueeze(0))
    return torch.cat(found)
