"""L-BFGS as BoTorch runs it, ended by CPU time."""

from __future__ import annotations

import math
from typing import Any

from botorch.optim.core import scipy_minimize
from botorch.optim.utils import get_parameters_and_bounds
from gpytorch.mlls import MarginalLogLikelihood
from torch import Tensor

from benchmarks.uci.clock import Clock

ROUNDS = 500
"""Of L-BFGS at most: learned inducing points of few rows creep on without end."""


class TimeIsUpError(Exception):
    """The clock has reached its limit."""


def maximise(mll: MarginalLogLikelihood, X: Tensor, y: Tensor, clock: Clock) -> bool:
    """Fits a model by all its data, and leaves it at the best value seen.

    BoTorch's own limit is one of wall time, which a busy machine shortens.

    Args:
        mll: Of a model in training mode.
        X: ``n x d``, as the model takes it.
        y: ``n``.
        clock: Ends the fit, at the next evaluation.

    Returns:
        Whether the time was up before the optimum was reached.
    """
    every, bounds = get_parameters_and_bounds(mll)
    parameters = {name: p for name, p in every.items() if p.requires_grad}
    best, kept = math.inf, mll.state_dict()

    def closure() -> tuple[Tensor, list[Tensor | None]]:
        nonlocal best, kept
        if clock.is_up:
            raise TimeIsUpError
        mll.zero_grad()
        value: Any = mll(mll.model(X), y)
        (-value).backward()
        loss = -value.detach()
        if loss.item() < best:
            best = loss.item()
            kept = {name: t.clone() for name, t in mll.state_dict().items()}
        return loss, [p.grad for p in parameters.values()]

    try:
        scipy_minimize(closure, parameters, bounds, options={"maxiter": ROUNDS})
    except TimeIsUpError:
        stopped = True
    else:
        stopped = False
    mll.load_state_dict(kept)
    return stopped
