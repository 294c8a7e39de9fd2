from __future__ import annotations

import torch
from botorch.models.transforms import Standardize
from torch import Tensor

from bokern.models import StructuredGP


def observations(n: int = 15, d: int = 2, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Points of the unit cube and a noisy wave, ``n x d`` and ``n``."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, d, generator=generator, dtype=torch.float64)
    y = torch.sin(5.0 * X[:, 0]) + X.prod(-1)
    y = y + 0.1 * torch.randn(n, generator=generator, dtype=torch.float64)
    return X, 4.0 + 3.0 * y


def model_of(
    structure: str,
    X: Tensor,
    y: Tensor,
    noise: float | None = None,
    standardize: bool = True,
    **options,
) -> StructuredGP:
    """An unfitted model on the unit cube."""
    Yvar = None if noise is None else torch.full_like(y, noise).unsqueeze(-1)
    transform = Standardize(1) if standardize else None
    return StructuredGP(
        X,
        y.unsqueeze(-1),
        Yvar,
        outcome_transform=transform,
        structure=structure,
        **options,
    )


def free_only(model: StructuredGP, *names: str) -> StructuredGP:
    """Holds every hyperparameter but those whose names end so."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.endswith(names))
    return model


def move(model: StructuredGP, seed: int = 0) -> StructuredGP:
    """A model at θ that is nobody's optimum."""
    objective = model.log_posterior()
    generator = torch.Generator().manual_seed(seed)
    shift = torch.randn(objective.dim, generator=generator, dtype=torch.float64)
    objective.set(objective.get() + 0.3 * shift)
    return model.train().eval()
