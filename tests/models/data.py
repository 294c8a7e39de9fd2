from __future__ import annotations

import torch
from botorch.models.model import Model
from botorch.posteriors import Posterior
from torch import Tensor


def training_data(
    *batch: int, n: int = 8, d: int = 3, m: int = 1, seed: int = 0, **kind
) -> tuple[Tensor, Tensor]:
    """Inputs in the unit cube and a smooth, noisy outcome, ``batch x n x m``."""
    kind = {"dtype": torch.float64} | kind
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(*batch, n, d, generator=generator, dtype=torch.float64)
    shift = torch.arange(1, m + 1, dtype=torch.float64)
    Y = torch.sin(4.0 * X[..., :1] + shift) + X[..., 1:2] * X[..., -1:]
    noise = torch.randn(Y.shape, generator=generator, dtype=torch.float64)
    return X.to(**kind), (3.0 + 2.0 * (Y + 0.05 * noise)).to(**kind)


def points(*lead: int, d: int = 3, seed: int = 1, **kind) -> Tensor:
    """Points in the unit cube, ``lead x d``."""
    kind = {"dtype": torch.float64} | kind
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*lead, d, generator=generator, dtype=torch.float64).to(**kind)


def randomize(model: Model, seed: int = 0) -> Model:
    """Moves every hyperparameter away from its initial value."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            shift = torch.randn(parameter.shape, generator=generator)
            parameter.add_(0.4 * shift.to(parameter))
    return model.train().eval()


def moments(posterior: Posterior) -> tuple[Tensor, Tensor]:
    """Mean and variance, ``b x q x m``, of a Gaussian or a mixture posterior."""
    if hasattr(posterior, "mixture_mean"):
        return posterior.mixture_mean, posterior.mixture_variance
    return posterior.mean, posterior.variance
