"""Titsias' collapsed bound."""

from __future__ import annotations

from functools import partial

import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import InducingPointKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.models import ExactGP
from torch import Tensor

from benchmarks.predictive import Predictions
from benchmarks.uci.clock import Clock
from benchmarks.uci.fitted import Fitted, noise_sd, predict_blocks
from benchmarks.uci.inducing import first_places
from benchmarks.uci.lbfgs import maximise
from benchmarks.uci.matern import matern
from benchmarks.uci.structured import structured


class SGPR(ExactGP):
    """GPyTorch's SGPR, with inducing points that are learned.

    Args:
        X: ``n x d``.
        y: ``n``.
        places: ``J x d``.
        likelihood: Of the noise.
    """

    def __init__(
        self, X: Tensor, y: Tensor, places: Tensor, likelihood: GaussianLikelihood
    ) -> None:
        super().__init__(X, y, likelihood)
        self.mean_module = ConstantMean()
        self.covar_module = InducingPointKernel(
            matern(X.shape[1]), inducing_points=places, likelihood=likelihood
        )

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The prior at X."""
        return MultivariateNormal(self.mean_module(X), self.covar_module(X))


def fit_sgpr(X: Tensor, y: Tensor, seed: int) -> Fitted:
    """Matérn-3/2 with a lengthscale a column, 512 inducing points, L-BFGS."""
    clock = Clock()
    places = first_places(X, seed)
    likelihood = GaussianLikelihood()
    model = SGPR(X, y, places, likelihood).to(X)
    torch.manual_seed(seed)
    mll = ExactMarginalLogLikelihood(likelihood, model)
    with structured():
        stopped = maximise(mll.train(), X, y, clock)
    settings = {
        "kernel": "Matérn-3/2 ARD",
        "inducing": len(places),
        "by": "L-BFGS",
        "dtype": str(X.dtype),
    }
    return Fitted(
        partial(_predict, model, likelihood),
        noise_sd(likelihood),
        stopped,
        settings,
    )


def _predict(model: SGPR, likelihood: GaussianLikelihood, X: Tensor) -> Predictions:
    with structured():
        return predict_blocks(model, likelihood, X)
