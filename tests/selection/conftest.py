from __future__ import annotations

import pandas as pd
import pytest
import torch

import bokern
from bokern.selection import Comparison

STRUCTURES = (
    "RBF()",
    "Kumaraswamy(RBF())",
    "Linear(columns=['b'])",
    "Linear() + RBF()",
    "Invariant(RBF(), swap('a', 'b'))",
)


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    generator = torch.Generator().manual_seed(2)
    X = 4.0 * torch.rand(16, 2, generator=generator, dtype=torch.float64)
    noise = torch.randn(16, generator=generator, dtype=torch.float64)
    y = 100.0 * torch.sin(X.sum(-1)) + 5.0 * noise
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "loss": y})


@pytest.fixture(scope="session")
def options() -> dict:
    return {"bounds": {"a": (0, 4), "b": (0, 4)}, "starts": 2, "seed": 3}


@pytest.fixture(scope="session")
def comparison(frame, options) -> Comparison:
    return bokern.compare(STRUCTURES, frame[["a", "b"]], frame["loss"], **options)
