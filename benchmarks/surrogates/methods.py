"""Surrogates: ours by structure and by search, and peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.model import Model
from botorch.models.transforms import Normalize, Standardize
from botorch.models.transforms.input import ChainedInputTransform, InputTransform, Warp
from botorch.models.utils.gpytorch_modules import (
    get_covar_module_with_dim_scaled_prior,
)
from gpytorch.kernels import ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import LogNormalPrior

import bokern
from benchmarks.surrogates.data import Data
from benchmarks.surrogates.deep_peers import fit_deep_gp, fit_deep_kernel
from benchmarks.tasks import Record
from bokern.models import integrated

Method = Callable[[Data, int], tuple[Model, Record]]

DRAWS = 16
"""Of hyperparameters."""

PAPER = "ConditionalDeep(mean='zero', form='network')"
"""The surrogate of [CDGP], by type-II maximum likelihood."""


def fit_structure(
    data: Data, seed: int, structure: str, objective: str = "map", draws: int = 0
) -> tuple[Model, Record]:
    """`bokern.fit` of one structure, hyperparameters fitted or averaged over."""
    model = bokern.fit(
        structure,
        data.X,
        data.y,
        bounds=list(data.bounds),
        objective=objective,
        seed=seed,
    )
    return integrated(model, draws) if draws else model, {"best": structure}


def fit_search(data: Data, seed: int) -> tuple[Model, Record]:
    """`bokern.search` as it comes, averaged over structures and hyperparameters."""
    found = bokern.search(
        data.X, data.y, bounds=list(data.bounds), seed=seed, progress=False
    )
    record = {"best": str(found.best), "candidates": len(found.candidates)}
    return found.model(average=True, draws=DRAWS), record


def fit_matern(data: Data, seed: int, warp: bool = False) -> tuple[Model, Record]:
    """BoTorch: Matérn-5/2 with a lengthscale a column, with or without a warp."""
    d = data.X.shape[1]
    kernel = get_covar_module_with_dim_scaled_prior(d, use_rbf_kernel=False)
    bounds = torch.tensor(data.bounds, dtype=torch.float64).T
    transform: InputTransform = Normalize(d, bounds=bounds)
    if warp:
        prior = LogNormalPrior(0.0, 0.75**0.5)
        own = Warp(
            d,
            list(range(d)),
            concentration0_prior=prior,
            concentration1_prior=prior,
        )
        transform = ChainedInputTransform(
            normalize=Normalize(d, bounds=bounds), warp=own
        )
    model = SingleTaskGP(
        data.X,
        data.y.unsqueeze(-1),
        covar_module=ScaleKernel(kernel),
        outcome_transform=Standardize(1),
        input_transform=transform,
    )
    torch.manual_seed(seed)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model, {}


METHODS: dict[str, Method] = {
    "matern": fit_matern,
    "warp": partial(fit_matern, warp=True),
    "dkl": fit_deep_kernel,
    "dsdgp": fit_deep_gp,
    "our-matern": partial(fit_structure, structure="Matern(2.5)"),
    "our-warp": partial(fit_structure, structure="Kumaraswamy(Matern(2.5))"),
    "deep": partial(fit_structure, structure="DeepSE()"),
    "conditional": partial(fit_structure, structure="ConditionalDeep()"),
    "conditional-9": partial(fit_structure, structure="ConditionalDeep(hyperdata=9)"),
    "our-matern-draws": partial(fit_structure, structure="Matern(2.5)", draws=DRAWS),
    "deep-draws": partial(fit_structure, structure="DeepSE()", draws=DRAWS),
    "conditional-draws": partial(
        fit_structure, structure="ConditionalDeep()", draws=DRAWS
    ),
    "conditional-9-draws": partial(
        fit_structure, structure="ConditionalDeep(hyperdata=9)", draws=DRAWS
    ),
    "conditional-ml": partial(fit_structure, structure=PAPER, objective="ml"),
    "search": fit_search,
}
