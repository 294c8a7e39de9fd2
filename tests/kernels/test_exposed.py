"""What outer layers expect of a Gaussian difference, against quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from bokern.kernels.exposed import (
    ExposedCosine,
    ExposedMatern,
    ExposedPeriodic,
    ExposedRationalQuadratic,
    ExposedRBF,
    ExposedSpectralMixture,
)
from tests.oracles import deep

pytestmark = pytest.mark.oracle

EXACT = 1e-8
"""Trapezoids over a Gaussian, or a closed form."""

MIXTURE = 5e-7
"""24 nodes of a scale mixture, Matérn."""

RATIONAL = 2e-5
"""The same for a rational quadratic of α ≥ .3."""

MIX = {
    "frequency": [0.7, 1.9],
    "weight": [0.4],
    "bandwidth": [2.5],
}

LAYERS = {
    "rbf": (ExposedRBF(), {}, deep.rbf, EXACT),
    "matern-1.5": (ExposedMatern(1.5), {}, deep.matern(1.5), MIXTURE),
    "matern-2.5": (ExposedMatern(2.5), {}, deep.matern(2.5), MIXTURE),
    "cosine": (ExposedCosine(), {}, deep.cosine, EXACT),
    "squared cosine": (ExposedCosine(True), {}, deep.squared_cosine, EXACT),
    "mixture": (
        ExposedSpectralMixture(),
        MIX,
        deep.spectral_mixture([1.0, 0.4], [1.0, 2.5], [0.7, 1.9]),
        EXACT,
    ),
    **{
        f"rq {a}": (
            ExposedRationalQuadratic(),
            {"alpha": a},
            deep.rational_quadratic(a),
            RATIONAL,
        )
        for a in (0.3, 1.0, 3.0, 40.0)
    },
    **{
        f"periodic {s}": (
            ExposedPeriodic(),
            {"outer_lengthscale": s},
            deep.periodic(s),
            EXACT,
        )
        for s in (0.2, 1.0, 5.0)
    },
}

MEANS = torch.tensor([0.0, 1e-4, 0.03, 0.3, 1.1, 4.0], dtype=torch.float64)
VARIANCES = torch.tensor([0.0, 1e-6, 0.02, 0.5, 3.0, 40.0], dtype=torch.float64)


def tensors(values):
    return {k: torch.tensor(v, dtype=torch.float64) for k, v in values.items()}


@pytest.fixture(params=LAYERS.values(), ids=LAYERS)
def layer(request):
    return request.param


def test_one_latent(layer):
    exposed, values, outer, tolerance = layer
    mean, variance = torch.meshgrid(MEANS, VARIANCES, indexing="ij")
    at = mean.square() if exposed.is_radial else mean
    found = exposed.expected(at, variance, 1, tensors(values))
    step = 2e-3
    nodes = np.arange(-9.0, 9.0 + step / 2, step)
    weight = step * np.exp(-0.5 * nodes**2) / math.sqrt(2.0 * math.pi)
    sd = variance.sqrt().numpy()[..., None]
    drawn = mean.numpy()[..., None] + sd * nodes
    expected = (weight * outer(drawn[..., None])).sum(-1)
    np.testing.assert_allclose(found.numpy(), expected, rtol=0.0, atol=tolerance)
    lost = exposed.complement(at, variance, 1, tensors(values))
    np.testing.assert_allclose(lost.numpy(), 1.0 - expected, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("name", [n for n, (e, *_) in LAYERS.items() if e.is_radial])
def test_two_latents_by_quadrature_in_the_plane(name):
    exposed, values, outer, tolerance = LAYERS[name]
    step = 0.02
    line = np.arange(-8.0, 8.0 + step / 2, step)
    weight = step * np.exp(-0.5 * line**2) / math.sqrt(2.0 * math.pi)
    plane = np.stack(np.meshgrid(line, line, indexing="ij"), -1)
    for mean, variance in (((0.2, -0.9), 0.4), ((1.5, 0.1), 2.0)):
        drawn = np.array(mean) + math.sqrt(variance) * plane
        expected = weight @ outer(drawn) @ weight
        square = torch.tensor(float(np.square(mean).sum()), dtype=torch.float64)
        at = torch.tensor(variance, dtype=torch.float64)
        found = exposed.expected(square, at, 2, tensors(values))
        # The plane is coarse where a Matérn has a kink.
        assert found.item() == pytest.approx(expected, abs=max(tolerance, 2e-6))


def test_the_complement_of_a_squared_exponential_is_exact_near_zero():
    tiny = torch.tensor(1e-18, dtype=torch.float64)
    lost = ExposedRBF().complement(tiny, 3.0 * tiny, 2, {})
    assert lost.item() == pytest.approx(0.5 * (2 * 3e-18 + 1e-18), rel=1e-12)


@pytest.mark.parametrize("name", LAYERS)
def test_derivatives_in_the_hyperparameters(name):
    exposed, values, *_ = LAYERS[name]
    mean = torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)
    variance = torch.tensor([0.1, 0.7], dtype=torch.float64, requires_grad=True)
    given = [v.requires_grad_() for v in tensors(values).values()]

    def function(mean, variance, *rest):
        named = dict(zip(values, rest, strict=True))
        return exposed.expected(mean, variance, 1, named)

    assert torch.autograd.gradcheck(function, (mean, variance, *given))
    assert torch.autograd.gradgradcheck(function, (mean, variance, *given), atol=1e-4)
