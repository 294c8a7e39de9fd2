"""Small models with fixed hyperparameters, never fitted."""

from __future__ import annotations

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize, Standardize


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    X = 10.0 * torch.rand(7, 2, generator=generator, dtype=torch.double)
    Y = 100.0 + 20.0 * torch.sin(X).sum(-1, keepdim=True)
    return X, Y


@pytest.fixture
def model(data):
    X, Y = data
    bounds = torch.tensor([[0.0, 0.0], [10.0, 10.0]], dtype=torch.double)
    gp = SingleTaskGP(
        X,
        Y,
        input_transform=Normalize(2, bounds=bounds),
        outcome_transform=Standardize(1),
    )
    gp.covar_module.lengthscale = torch.tensor([0.3, 0.5], dtype=torch.double)
    gp.likelihood.noise = 0.01
    return gp.eval()


@pytest.fixture
def ensemble(data):
    X, Y = data
    gp = EnsembleMapSaasSingleTaskGP(X / 10.0, Y, num_taus=3)
    scales = torch.tensor([0.2, 0.5, 1.0], dtype=torch.double).view(3, 1, 1)
    gp.covar_module.base_kernel.lengthscale = scales.expand(3, 1, 2)
    gp.likelihood.noise = torch.tensor([0.01, 0.02, 0.05], dtype=torch.double).view(
        3, 1
    )
    return gp.eval()


@pytest.fixture
def points():
    generator = torch.Generator().manual_seed(1)
    return 10.0 * torch.rand(5, 1, 2, generator=generator, dtype=torch.double)
