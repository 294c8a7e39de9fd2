from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from bokern.fitting import LogPosterior
from bokern.models import StructuredGP

Build = Callable[..., StructuredGP]


@pytest.fixture
def unit_model() -> Build:
    """Builds an unfitted model on a small data set in the unit cube."""

    def build(
        structure: str, n: int = 9, d: int = 2, noise: float | None = None, **options
    ) -> StructuredGP:
        generator = torch.Generator().manual_seed(n + d)
        X = torch.rand(n, d, generator=generator, dtype=torch.float64)
        Y = torch.sin(5.0 * X[:, :1]) + X[:, 1:].sum(-1, keepdim=True) ** 2
        Y = Y + 0.1 * torch.randn(n, 1, generator=generator, dtype=torch.float64)
        Yvar = None if noise is None else torch.full_like(Y, noise)
        return StructuredGP(
            X, Y, Yvar, outcome_transform=None, structure=structure, **options
        )

    return build


@pytest.fixture
def draw_theta() -> Callable[..., torch.Tensor]:
    """Moderate θ at random, ``lead x k``."""

    def draw(objective: LogPosterior, *lead: int, seed: int = 0) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        shape = (*lead, objective.dim)
        return 0.5 * torch.randn(shape, generator=generator, dtype=torch.float64) - 0.5

    return draw
