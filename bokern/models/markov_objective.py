"""The log posterior in O(n) of kernels that have a Markov state."""

from __future__ import annotations

import torch
from torch import Tensor

from bokern.fitting import (
    AutogradLogPosterior,
    LogPosterior,
    check_time,
)
from bokern.inference import (
    Chain,
    MarkovPrior,
    markov_column,
    markov_prior,
    state_size,
)

ROW_ENTRIES, STATE_ENTRIES = 16, 5
"""Memory of an observation and of a component of its state, in entries of a dense
covariance: 2.4 to 7 kB a row for a gradient, where a dense entry takes 112 bytes."""


class MarkovLogPosterior(AutogradLogPosterior):
    """A `LogPosterior` whose likelihood is filtered rather than factorised.

    The same numbers up to rounding, derivatives of first and second order included.

    Args:
        dense: The objective, of a kernel with a Markov state.
    """

    batches_pay = True

    def __init__(self, dense: LogPosterior) -> None:
        self.__dict__.update(dense.__dict__)
        column = markov_column(dense._terms.covar_module)
        assert column is not None
        self.chain = Chain(self.X[..., column])

    @property
    def entries(self) -> int:
        """What memory goes by, in covariance entries of the dense objective."""
        s = state_size(self._terms.covar_module)
        return self.num_data * (ROW_ENTRIES + STATE_ENTRIES * s)

    @property
    def work(self) -> int:
        """As memory."""
        return self.entries

    def on_rows(self, rows: Tensor) -> LogPosterior:
        """The objective of some rows of the data, over the same modules."""
        return MarkovLogPosterior(super().on_rows(rows))

    def log_likelihood(self, theta: Tensor) -> Tensor:
        """``log p(z | X, θ)``, ``...`` for θ of ``... x k``; −inf where it fails."""
        usable = torch.isfinite(theta).all(-1)
        theta = torch.where(usable.unsqueeze(-1), theta, 0.0)
        mean, prior, noise = self.markov_moments(theta)
        value = self.chain.log_likelihood(prior, self.z - mean, noise)
        return torch.where(usable, value, -torch.inf)

    def inverse_terms(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        r"""α = K⁻¹ (z − m) and the diagonal of K⁻¹, noise included, ``... x n`` each.

        From the derivatives of the log likelihood in the means, which are α, and in
        the noise variances, which are $(\alpha^2 - \mathrm{diag} K^{-1}) / 2$.
        """
        with torch.no_grad():
            mean, prior, noise = self.markov_moments(theta)
        mean, noise = (v.clone().requires_grad_(True) for v in (mean, noise))
        with torch.enable_grad():
            value = self.chain.log_likelihood(prior, self.z - mean, noise).sum()
            alpha, slope = torch.autograd.grad(value, [mean, noise])
        return alpha, alpha.square() - 2.0 * slope

    def markov_moments(self, theta: Tensor) -> tuple[Tensor, MarkovPrior, Tensor]:
        """Mean ``... x n``, prior, and noise variances ``... x n`` at θ."""
        check_time()
        mean, noise = self._mean_and_noise(theta)
        raw = self._unpack(theta)
        prior = self._terms.at(raw, lambda terms: markov_prior(terms.covar_module))
        return mean, prior, noise
