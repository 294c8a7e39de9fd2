"""How far a deep prior is from the Gaussian process that stands for it."""

from __future__ import annotations

import torch

from bokern import seeding
from bokern.kernels import ConditionalDeepKernel, ZeroMeanDeepKernel
from bokern.models import StructuredGP
from bokern.selection.axes import percent

PAIRS = 512
"""Pairs of points of the box."""

SEED = 0


def gaussianity_sentence(model: StructuredGP) -> str:
    """Excess of the fourth moments of deep parts over a Gaussian process's.

    Args:
        model: Fitted, of one outcome and no batch.

    Returns:
        A sentence; nothing if no part is deep, or none has its moments in closed form.
    """
    generator = seeding.generator("gaussianity", SEED)
    X = model.train_inputs[0]
    pairs = torch.rand(2, PAIRS, X.shape[-1], generator=generator, dtype=torch.float64)
    one, other = pairs.to(X)
    excesses = []
    for kernel in model.covar_module.modules():
        if isinstance(kernel, ConditionalDeepKernel | ZeroMeanDeepKernel):
            with torch.no_grad():
                fourth = kernel.fourth_moment(one, other)
                plain = 1.0 + 2.0 * kernel.forward(one, other, diag=True).square()
            if fourth is not None:
                excesses.append(fourth / plain - 1.0)
    if not excesses:
        return ""
    most = torch.stack(excesses).amax(0)
    return (
        "A deep part is no Gaussian process but is matched by its first two moments; "
        "over the box its fourth ones exceed those of a Gaussian process by "
        f"{percent(most.median().item())} in the median and "
        f"{percent(most.max().item())} at most."
    )
