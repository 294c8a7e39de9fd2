"""Moments under Gaussian inputs against Gauss–Hermite quadrature."""

from __future__ import annotations

import pytest
import torch

from bokern.spectral import (
    Frequencies,
    expected_features,
    expected_products,
    expected_rbf,
    expected_rbf_products,
    function_variance,
)
from tests.oracles.gaussian_inputs import DIM, integrated, uncertain

NEAR = {"rtol": 1e-9, "atol": 1e-11}


@pytest.fixture(scope="module")
def waves():
    return Frequencies("rbf", 2.5, 5, DIM)


@pytest.mark.oracle
def test_expected_features(waves):
    mean, variance = uncertain()
    found = expected_features(waves, mean, variance)
    expected = integrated(waves.features, mean, variance)
    torch.testing.assert_close(found, expected, **NEAR)
    certain = expected_features(waves, mean, torch.zeros_like(mean))
    torch.testing.assert_close(certain, waves.features(mean), **NEAR)


@pytest.mark.oracle
def test_expected_products(waves):
    mean, variance = uncertain(seed=1)

    def products(x):
        phi = waves.features(x)
        return phi.unsqueeze(-1) * phi.unsqueeze(-2)

    found = expected_products(waves, mean, variance)
    torch.testing.assert_close(found, integrated(products, mean, variance), **NEAR)
    eigenvalues = torch.linalg.eigvalsh(found)
    assert eigenvalues.min() > -1e-14


@pytest.mark.oracle
def test_expected_squared_exponentials():
    mean, variance = uncertain(seed=2)
    places = 1.5 * torch.randn(
        6, DIM, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )

    def rbf(x):
        return torch.exp(-0.5 * torch.cdist(x, places).square())

    def products(x):
        return rbf(x).unsqueeze(-1) * rbf(x).unsqueeze(-2)

    found = expected_rbf(mean, variance, places)
    torch.testing.assert_close(found, integrated(rbf, mean, variance), **NEAR)
    pairs = expected_rbf_products(mean, variance, places)
    expected = integrated(products, mean, variance)
    torch.testing.assert_close(pairs, expected, **NEAR)


@pytest.mark.oracle
def test_variance_of_functions_of_random_weights(waves):
    """By the law of total variance, the weights being integrated out in closed form."""
    mean, variance = uncertain(seed=4)
    generator = torch.Generator().manual_seed(5)
    alpha = torch.randn(10, 3, generator=generator, dtype=torch.float64)
    root = 0.3 * torch.randn(10, 10, generator=generator, dtype=torch.float64)
    S = root @ root.mT

    def given(x):
        phi = waves.features(x)
        return ((phi @ S) * phi).sum(-1, keepdim=True), phi @ alpha

    within = integrated(lambda x: given(x)[0], mean, variance)
    second = integrated(lambda x: given(x)[1].square(), mean, variance)
    first = integrated(lambda x: given(x)[1], mean, variance)
    found = function_variance(
        alpha,
        S,
        expected_features(waves, mean, variance),
        expected_products(waves, mean, variance),
    )
    torch.testing.assert_close(found, within + second - first.square(), **NEAR)
    # Expected features put into the variance at a fixed input give less, by Jensen.
    plugged = (expected_features(waves, mean, variance) @ root).square().sum(-1)
    assert (plugged[1:] < 0.9 * within[1:, 0]).all()
    assert plugged[0].item() == pytest.approx(within[0, 0].item())


def test_batches_and_dtypes(waves):
    mean, variance = uncertain(6)
    batch = expected_products(
        waves, mean.reshape(2, 3, DIM), variance.reshape(2, 3, DIM)
    )
    single = expected_products(waves, mean, variance)
    torch.testing.assert_close(batch.reshape(single.shape), single, **NEAR)
    half = expected_features(waves.float(), mean.float(), variance.float())
    assert half.dtype == torch.float32
    waves.double()
