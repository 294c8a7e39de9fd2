"""What a fit begins with: few rows, and kernels of some of the hyperparameters."""

from __future__ import annotations

from copy import deepcopy

from torch import Tensor

from bokern.fitting.log_posterior import LogPosterior
from bokern.kernels import StructureKernel


def beginning(objective: LogPosterior, rows: Tensor) -> LogPosterior:
    """The objective of some rows and of the kernels' `StructureKernel.beginning`."""
    part = objective.on_rows(rows)
    terms = part._terms
    return LogPosterior(
        terms.mean_module,
        _begun(terms.covar_module),
        terms.likelihood,
        part.X,
        part.z,
        objective.use_prior,
    )


def embedded(
    theta: Tensor, part: LogPosterior, whole: LogPosterior, like: Tensor
) -> Tensor:
    """θ of a part's coordinates among the whole's, ``... x k``; others as ``like``."""
    found = like.expand(*theta.shape[:-1], whole.dim).clone()
    spans = {c.name: c.span for c in whole.coordinates}
    for c in part.coordinates:
        found[..., spans[c.name]] = theta[..., c.span]
    return found


def _begun(kernel: StructureKernel) -> StructureKernel:
    """A copy with each part replaced by what a fit begins with."""
    copy = deepcopy(kernel).beginning()
    for module in list(copy.modules()):
        for name, child in module.named_children():
            if isinstance(child, StructureKernel):
                setattr(module, name, child.beginning())
    return copy
