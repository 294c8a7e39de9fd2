"""The exact GP, as BoTorch fits it."""

from __future__ import annotations

from functools import partial

import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from botorch.models.utils.gpytorch_modules import (
    get_covar_module_with_dim_scaled_prior,
    get_gaussian_likelihood_with_lognormal_prior,
)
from gpytorch.kernels import ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.predictive import predict
from benchmarks.uci.clock import Clock
from benchmarks.uci.fitted import Fitted, noise_sd
from benchmarks.uci.lbfgs import maximise

MOST_ROWS = 5000
"""Beyond, the limit does not allow enough factorisations to fit anything."""


def fit_exact(X: Tensor, y: Tensor, seed: int) -> Fitted:
    """Matérn-3/2 with a lengthscale a column, by L-BFGS on the unit cube.

    Priors are those that BoTorch scales by the dimension.
    """
    clock = Clock()
    d = X.shape[1]
    matern = get_covar_module_with_dim_scaled_prior(d, use_rbf_kernel=False)
    matern.nu = 1.5
    likelihood = get_gaussian_likelihood_with_lognormal_prior()
    model = SingleTaskGP(
        X,
        y.unsqueeze(-1),
        likelihood=likelihood,
        covar_module=ScaleKernel(matern),
        outcome_transform=None,
        input_transform=Normalize(d),
    )
    torch.manual_seed(seed)
    mll = ExactMarginalLogLikelihood(likelihood, model)
    stopped = maximise(mll.train(), X, y, clock)
    model.eval()
    settings = {"kernel": "Matérn-3/2 ARD", "by": "L-BFGS", "dtype": str(X.dtype)}
    noise = noise_sd(likelihood)
    return Fitted(partial(predict, model), noise, stopped, settings)
