"""Stochastic variational inference with inducing points."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import Kernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.mlls import VariationalELBO
from gpytorch.models import ApproximateGP
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy
from torch import Tensor

from benchmarks.uci.clock import Clock
from benchmarks.uci.fitted import Fitted, noise_sd, predict_blocks
from benchmarks.uci.inducing import first_places
from benchmarks.uci.matern import matern
from benchmarks.uci.training import descend, minibatches

RATE, STEPS = 0.01, 5000
SMALL, SMALL_BATCH, BATCH = 5000, 256, 1024
"""Up to ``SMALL`` rows come in small batches."""


class SVGP(ApproximateGP):
    """GPyTorch's SVGP: whitened, with inducing points that are learned.

    Args:
        places: ``J x d``.
        kernel: Of the inputs.
    """

    def __init__(self, places: Tensor, kernel: Kernel) -> None:
        q = CholeskyVariationalDistribution(len(places))
        super().__init__(VariationalStrategy(self, places, q))
        self.mean_module = ConstantMean()
        self.covar_module = kernel

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The prior at X."""
        return MultivariateNormal(self.mean_module(X), self.covar_module(X))


def batch_size(rows: int) -> int:
    """Of minibatches."""
    return min(rows, SMALL_BATCH if rows <= SMALL else BATCH)


def fit_svgp(X: Tensor, y: Tensor, seed: int) -> Fitted:
    """Matérn-3/2 with a lengthscale a column, 512 inducing points, Adam.

    In single precision as in GPyTorch's example: half as many steps again fit into the
    time.
    """
    clock = Clock()
    X, y = X.float(), y.float()
    torch.manual_seed(seed)
    places = first_places(X, seed)
    likelihood = GaussianLikelihood()
    model = SVGP(places, matern(X.shape[1])).to(X)
    likelihood.to(X)
    elbo = VariationalELBO(likelihood, model, len(y))
    size = batch_size(len(y))
    batches = minibatches(X, y, size, seed)

    def loss() -> Tensor:
        inputs, targets = next(batches)
        value: Any = elbo(model(inputs), targets)
        return -value

    # The model's parameters are those of the ELBO, which holds the likelihood too.
    optimizer = torch.optim.Adam(elbo.parameters(), lr=RATE)
    steps = descend(loss, optimizer, STEPS, clock)
    settings = {
        "kernel": "Matérn-3/2 ARD",
        "inducing": len(places),
        "by": f"Adam {RATE}, decayed",
        "batch": size,
        "steps": steps,
        "epochs": steps * size / len(y),
        "dtype": str(X.dtype),
    }
    return Fitted(
        partial(predict_blocks, model, likelihood),
        noise_sd(likelihood),
        steps < STEPS,
        settings,
    )
