"""Methods that fit training data and return a model, and what they found."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.model import Model
from botorch.models.transforms import Normalize, Standardize
from botorch.models.utils.gpytorch_modules import (
    get_covar_module_with_dim_scaled_prior,
)
from gpytorch.kernels import ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood

import bokern
from benchmarks.regression.splits import Split
from benchmarks.tasks import Record

Method = Callable[[Split, int], tuple[Model, Record]]


def fit_search(split: Split, seed: int) -> tuple[Model, Record]:
    """`bokern.search` as it comes, averaged."""
    found = bokern.search(
        pd.DataFrame(split.X.numpy(), columns=list(split.names)),
        split.y,
        bounds=split.bounds,
        seed=seed,
        progress=False,
    )
    top = found.candidates[:5]
    record = {
        "best": str(found.best),
        "flags": list(found.candidates[0].evidence.flags),
        "log_evidence": {str(c.structure): c.evidence.log_evidence for c in top},
        "notes": list(found.notes),
        "candidates": len(found.candidates),
        "failures": [list(failure) for failure in found.failures],
    }
    return found.model(average=True), record


def fit_matern(split: Split, seed: int) -> tuple[Model, Record]:
    """BoTorch: Matérn-5/2 with a lengthscale a column, priors as `SingleTaskGP`'s."""
    d = split.X.shape[1]
    kernel = get_covar_module_with_dim_scaled_prior(d, use_rbf_kernel=False)
    model = SingleTaskGP(
        split.X,
        split.y.unsqueeze(-1),
        covar_module=ScaleKernel(kernel),
        outcome_transform=Standardize(1),
        input_transform=Normalize(d, bounds=torch.tensor(split.bounds).double().T),
    )
    torch.manual_seed(seed)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model, {}


METHODS: dict[str, Method] = {"search": fit_search, "matern": fit_matern}
