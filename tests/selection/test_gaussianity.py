"""How far deep priors are from Gaussian, in a sentence."""

from __future__ import annotations

import re

import pytest
import torch

from bokern.models import StructuredGP
from bokern.selection.gaussianity import gaussianity_sentence


def model_of(structure: str, scale: float = 0.5) -> StructuredGP:
    X = torch.rand(8, 2, dtype=torch.float64)
    model = StructuredGP(X, X.sum(-1, keepdim=True), structure=structure)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("raw_latent_scale"):
                parameter.fill_(scale).log_()
    return model.eval()


def most(sentence: str) -> float:
    return float(re.findall(r"([\d.]+) %", sentence)[-1])


@pytest.mark.parametrize(
    "structure", ["DeepSE()", "Linear() + ConditionalDeep(hyperdata=2)"]
)
def test_the_excess_grows_with_the_hidden_scale(structure: str) -> None:
    little, much = (gaussianity_sentence(model_of(structure, s)) for s in (0.05, 1.5))
    assert most(little) < 1.0 < most(much)


def test_the_excess_of_a_zero_mean_layer() -> None:
    """Far apart D = 1, and 1 + 2 (1 + 4σ²)^(−1/2) stands over 1 + 2 / (1 + 2σ²)."""
    model = model_of("DeepSE()", 1.0)
    with torch.no_grad():
        model.covar_module.base_kernel.raw_lengthscale.fill_(-9.0)
    exact = (1.0 + 2.0 / 5.0**0.5) / (1.0 + 2.0 / 3.0) - 1.0
    assert most(gaussianity_sentence(model)) == pytest.approx(100 * exact, abs=0.5)


@pytest.mark.parametrize(
    "structure", ["RBF()", "ConditionalDeep(exposed='matern-1.5')"]
)
def test_nothing_is_said_of_others(structure: str) -> None:
    assert gaussianity_sentence(model_of(structure)) == ""
