"""Log posteriors whose gradient comes from one backward pass."""

from __future__ import annotations

import torch
from torch import Tensor

from bokern.fitting.log_posterior import LogPosterior


class AutogradLogPosterior(LogPosterior):
    """A `LogPosterior` of another likelihood than that of a dense covariance."""

    def value_and_gradient(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The objective and its gradient, by one backward pass."""
        theta = theta.detach().requires_grad_(True)
        with torch.enable_grad():
            value = self(theta)
            good = torch.isfinite(value.detach())
            # The second term joins θ to the graph where nothing depends on it.
            total = value[good].sum() + 0.0 * theta[good].sum()
            (gradient,) = torch.autograd.grad(total, theta)
        gradient = torch.where(good[..., None], gradient, 0.0).nan_to_num()
        return torch.where(good, value.detach(), -torch.inf), gradient
