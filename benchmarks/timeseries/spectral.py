"""The spectral mixture kernel in GPyTorch, fitted as its authors advise.

Several starts, from the empirical spectrum and at random below the Nyquist frequency;
the best by marginal likelihood.

References:
    Wilson and Adams: Gaussian Process Kernels for Pattern Discovery and Extrapolation.
    ICML 2013.
"""

from __future__ import annotations

import math

import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.models import SingleTaskGP
from botorch.models.model import Model
from botorch.models.transforms import Normalize, Standardize
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.kernels import SpectralMixtureKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NanError, NotPSDError
from torch import Tensor

from benchmarks.tasks import Record
from benchmarks.timeseries.series import Series

MIXTURES = 10
STARTS = 6
ITERATIONS = 150


def fit_spectral(series: Series, seed: int) -> tuple[Model, Record]:
    """The best of several fits by type-II maximum likelihood."""
    torch.manual_seed(seed)
    best, reached, failed = None, -math.inf, 0
    for start in range(STARTS):
        model = _initial(series, from_spectrum=start % 2 == 0)
        mll = ExactMarginalLogLikelihood(model.likelihood, model)
        try:
            fit_gpytorch_mll_scipy(mll, options={"maxiter": ITERATIONS})
            model.train()
            with torch.no_grad():
                value = _mean_log_likelihood(mll, model)
        except (NotPSDError, NanError, ModelFittingError, RuntimeError):
            failed += 1
            continue
        if value > reached:
            best, reached = model, value
    if best is None:
        raise RuntimeError(f"none of {STARTS} starts could be fitted")
    return best.eval(), {"log_likelihood_a_point": reached, "failed_starts": failed}


def _initial(series: Series, from_spectrum: bool) -> SingleTaskGP:
    kernel = SpectralMixtureKernel(num_mixtures=MIXTURES)
    likelihood = GaussianLikelihood()
    model = SingleTaskGP(
        series.X,
        series.y.unsqueeze(-1),
        likelihood=likelihood,
        covar_module=kernel,
        outcome_transform=Standardize(1),
        input_transform=Normalize(1, bounds=torch.tensor(series.bounds).double().T),
    )
    model.train()
    X, z = model.train_inputs[0], model.train_targets
    X = model.transform_inputs(X)
    if from_spectrum:
        order = X.squeeze(-1).argsort()
        kernel.initialize_from_data_empspect(X[order], z[order])
    else:
        kernel.initialize_from_data(X, z)
    likelihood.initialize(noise=0.05)
    return model


def _mean_log_likelihood(mll: ExactMarginalLogLikelihood, model: SingleTaskGP) -> float:
    value = mll(model(*model.train_inputs), model.train_targets)
    assert isinstance(value, Tensor)
    return value.item()
