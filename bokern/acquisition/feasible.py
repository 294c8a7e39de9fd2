r"""Any acquisition, counted as far as a candidate is expected to be feasible.

$$\log A(x) + \log P(\text{the evaluation succeeds}) +
    \sum_k \log P(g_k(x) \le b_k)$$

for an acquisition A that is not negative, such as an expected improvement, whose
expectation over independent feasibility this is. One that has no such zero, such as an
upper confidence bound or a drawn function, is counted from its lowest value over points
that fill the box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from botorch.utils.probability.utils import log_ndtr
from botorch.utils.safe_math import log_softplus
from torch import Tensor, nn

LogProbability = Callable[[Tensor], Tensor]
"""From ``... x d`` points to ``...`` log probabilities."""

SOFT = 1e-3
"""Rounding of the corner at the lowest value, as a share of the acquisition's range."""


LIKELY = math.log(0.5)
"""Log probability from which a point counts as feasible, where it is one or the other.
"""

FEWEST = 16
"""Points that are kept whatever their probabilities."""


def likely_points(
    points: Tensor, probabilities: Sequence[LogProbability], count: int
) -> Tensor:
    """Points that are feasible rather than not, in their order.

    Args:
        points: ``N x d``.
        probabilities: Log probabilities of independent conditions.
        count: How many, at most; at least 16 are given, the most probable ones.

    Returns:
        ``n x d``.
    """
    if not probabilities:
        return points[:count]
    with torch.no_grad():
        total = sum((p(points) for p in probabilities), points.new_zeros(len(points)))
    likely = points[total > LIKELY]
    if len(likely) >= FEWEST:
        return likely[:count]
    return points[total.topk(min(FEWEST, len(points))).indices]


class OutcomesFeasible(nn.Module):
    r"""Log probability that outcomes keep linear constraints, $A y \le b$.

    Outcomes count as independent, and so do constraints. Members of an ensemble are
    averaged.

    Args:
        model: A fitted model of all outcomes.
        A: ``k x m``.
        b: ``k x 1`` or ``k``.
    """

    A: Tensor
    b: Tensor

    def __init__(self, model: Model, A: Tensor, b: Tensor) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("A", A)
        self.register_buffer("b", b.reshape(-1))

    def forward(self, X: Tensor) -> Tensor:
        """At ``... x d`` points, ``...``."""
        posterior = cast(GPyTorchPosterior, self.model.posterior(X.unsqueeze(-2)))
        mean, variance = (v.squeeze(-2) for v in (posterior.mean, posterior.variance))
        left = self.b - mean @ self.A.mT
        spread = (variance @ self.A.mT.square()).clamp_min(1e-12).sqrt()
        total = log_ndtr(left / spread).sum(-1)
        if total.dim() == X.dim():
            return total.logsumexp(-1) - math.log(total.shape[-1])
        return total


class Feasible(AcquisitionFunction):
    """An acquisition times the probability that its candidates are feasible.

    Args:
        base: The acquisition.
        probabilities: Logarithms of what it is multiplied by, each of ``... x d``
            points.
        points: ``N x d`` that fill the box, from the lowest value at which an
            acquisition that is not a logarithm counts.
    """

    _log = True

    def __init__(
        self,
        base: AcquisitionFunction,
        probabilities: Sequence[LogProbability],
        points: Tensor,
    ) -> None:
        super().__init__(model=base.model)
        super().set_X_pending(getattr(base, "X_pending", None))
        self.base = base
        self.probabilities = list(probabilities)
        self._is_log = bool(getattr(base, "_log", False))
        if not self._is_log:
            with torch.no_grad():
                values = base(points.unsqueeze(-2))
            self._lowest = float(values.min())
            self._scale = SOFT * max(float(values.max()) - self._lowest, 1e-12)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:  # noqa: N802
        """Declares points that are being evaluated, ``p x d``, or None."""
        super().set_X_pending(X_pending)
        self.base.set_X_pending(X_pending)

    def forward(self, X: Tensor) -> Tensor:
        """The logarithm of the acquisition's value.

        Args:
            X: ``b x q x d`` candidates.

        Returns:
            ``b`` values.
        """
        value = self.base(X)
        if not self._is_log:
            value = log_softplus((value - self._lowest) / self._scale, tau=1.0)
        for probability in self.probabilities:
            value = value + probability(X).sum(-1)
        return value
