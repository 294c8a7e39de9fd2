"""Deep kernels with hyperdata, against draws of the hidden law and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from bokern.kernels import (
    Columns,
    ConditionalDeepKernel,
    MaternKernel,
    RBFKernel,
    ZeroMeanDeepKernel,
    spread_places,
)
from bokern.kernels.exposed import ExposedMatern, ExposedRBF
from bokern.kernels.hyperdata import FreeHyperdata, NetworkHyperdata, WhitenedHyperdata
from tests import tolerances
from tests.kernels.examples import every, points
from tests.oracles import covariances, deep

pytestmark = pytest.mark.oracle

LENGTHSCALES = [0.4, 0.7]
IDENTITY = [0.5, 0.9]
JITTER = 1e-6
"""τ² = 1e-8, by which hyperdata may be missed, times the condition of k₁(Z, Z)."""

x = points(5, 2)
PLACES = spread_places(4, [0, 1], 2)


def make(form=FreeHyperdata, exposed=None, identity=False, scale=0.8, places=PLACES):
    """Two latents, random hyperdata."""
    base = RBFKernel(every(2))
    given = None if form is None else form(places, 2)
    kernel = ConditionalDeepKernel(
        base, exposed or ExposedRBF(), given, every(2), identity, 2
    )
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in kernel.named_parameters():
            if "scale" not in name:
                drawn = torch.randn(parameter.shape, generator=generator)
                parameter.copy_(drawn.double())
    base.lengthscale = torch.tensor([LENGTHSCALES], dtype=torch.float64)
    kernel.initialize_hyperparameter("latent_scale", scale)
    if identity:
        value = torch.tensor([IDENTITY], dtype=torch.float64)
        kernel.initialize_hyperparameter("mean_lengthscale", value)
    return kernel


def hidden(kernel, given, identity, scale=0.8):
    """Means, n x 2, and covariance of the hidden functions at x, by conditioning."""
    k1 = covariances.rbf(LENGTHSCALES)
    laws = [
        deep.hidden_law(
            lambda a, b: scale**2 * k1(a, b),
            x.numpy(),
            PLACES.numpy(),
            given[:, h],
            (lambda p, h=h: p[h] / IDENTITY[h]) if identity else (lambda p: 0.0),
        )
        for h in range(2)
    ]
    return np.stack([mean for mean, _ in laws], -1), laws[0][1]


def given_by(kernel, identity, scale=0.8):
    """u, from what is learned."""
    prior = PLACES.numpy() / IDENTITY if identity else np.zeros((4, 2))
    match kernel.hyperdata:
        case FreeHyperdata():
            offset = kernel.raw_offset.detach().numpy()
        case WhitenedHyperdata():
            K = covariances.matrix(covariances.rbf(LENGTHSCALES), PLACES, PLACES)
            offset = (
                np.linalg.cholesky(K.numpy()) @ kernel.raw_whitened.detach().numpy()
            )
        case NetworkHyperdata():
            raw = {n: p.detach().numpy() for n, p in kernel.named_parameters()}
            inner = (2.0 * PLACES.numpy() - 1.0) @ raw["raw_input_weight"]
            inner = np.tanh(inner + raw["raw_input_bias"])
            offset = inner @ raw["raw_output_weight"] + raw["raw_output_bias"]
    return prior + scale * offset


@pytest.mark.parametrize("identity", [True, False], ids=["identity", "zero"])
@pytest.mark.parametrize("form", [FreeHyperdata, WhitenedHyperdata, NetworkHyperdata])
@pytest.mark.parametrize(
    ("exposed", "outer"),
    [(ExposedRBF(), deep.rbf), (ExposedMatern(1.5), deep.matern(1.5))],
    ids=["rbf", "matern"],
)
def test_draws_of_the_hidden_functions(form, identity, exposed, outer):
    kernel = make(form, exposed, identity)
    means, covariance = hidden(kernel, given_by(kernel, identity), identity)
    rng = np.random.default_rng(0)
    expected = deep.expected_by_draws(outer, means, covariance, 200_000, rng)
    with torch.no_grad():
        found = kernel.forward(x, x)
        mean, variance = kernel.latent(x)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerances.MONTE_CARLO)
    np.testing.assert_allclose(mean, means, rtol=0.0, atol=JITTER)
    np.testing.assert_allclose(variance, np.diag(covariance), rtol=0.0, atol=JITTER)


def test_certain_latents_are_a_deep_kernel():
    """σ₁ → 0 at fixed u: a squared exponential of m(x)."""
    kernel = make(scale=1e-6)
    with torch.no_grad():
        kernel.raw_offset.mul_(1e6)
    means, _ = hidden(kernel, given_by(kernel, False, 1e-6), False, 1e-6)
    with torch.no_grad():
        found = kernel.forward(x, x)
    expected = deep.rbf(means[:, None] - means[None])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=JITTER)


def test_without_bending_the_identity_is_the_outer_kernel():
    kernel = make(WhitenedHyperdata, identity=True, scale=1e-9)
    with torch.no_grad():
        kernel.raw_whitened.zero_()
    plain = covariances.matrix(covariances.rbf(IDENTITY), x, x)
    torch.testing.assert_close(kernel.forward(x, x), plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("width", [1, 3])
def test_nothing_given_and_mean_zero_is_the_zero_mean_kernel(width):
    plain = ZeroMeanDeepKernel(every(2), width)
    kernel = ConditionalDeepKernel(
        RBFKernel(every(2)), ExposedRBF(), None, every(2), False, width
    )
    for each in (plain, kernel):
        each.lengthscale = torch.tensor([LENGTHSCALES], dtype=torch.float64)
        each.initialize_hyperparameter("latent_scale", 1.7)
    expected = plain.forward(x, x)
    torch.testing.assert_close(kernel.forward(x, x), expected, rtol=0, atol=1e-14)
    assert kernel.is_stationary


def test_hyperdata_far_away_say_nothing():
    kernel = make(places=PLACES + 100.0)
    plain = ZeroMeanDeepKernel(every(2), 2)
    plain.lengthscale = torch.tensor([LENGTHSCALES], dtype=torch.float64)
    plain.initialize_hyperparameter("latent_scale", 0.8)
    torch.testing.assert_close(
        kernel.forward(x, x), plain.forward(x, x), rtol=0, atol=1e-12
    )


def test_where_hyperdata_are_the_latents_are_certain():
    kernel = make(places=torch.cat([x, points(3, 2, seed=5)]))
    with torch.no_grad():
        mean, variance = kernel.latent(x)
    assert variance.max() < JITTER
    given = 0.8 * kernel.raw_offset.detach()[:5]
    torch.testing.assert_close(mean, given, rtol=0, atol=1e-4)


def test_a_weak_latent():
    """1 − H σ₁² D, and the second order of [CDGP] eq. 19, at small σ₁."""
    scale = 1e-3
    lost = 1.0 - covariances.matrix(covariances.rbf(LENGTHSCALES), x, x)
    kernel = make(None, scale=scale)
    expected = 1.0 - 2.0 * scale**2 * lost
    torch.testing.assert_close(kernel.forward(x, x), expected, rtol=0, atol=1e-10)

    kernel = make(WhitenedHyperdata, identity=True, scale=scale)
    means, covariance = hidden(kernel, given_by(kernel, True, scale), True, scale)
    spread = np.diag(covariance)
    variance = spread[:, None] + spread[None] - 2.0 * covariance
    gap = np.square(means[:, None] - means[None]).sum(-1)
    # Two latents of the same variance: each contributes.
    second = np.exp(-0.5 * gap) * (1.0 + 0.5 * variance * (gap - 2.0))
    np.testing.assert_allclose(kernel.forward(x, x).detach(), second, rtol=0, atol=1e-9)


def test_three_layers_by_the_recursion_in_floats():
    """The second moment of two layers, conditioned on hyperdata of its own."""
    below = make(WhitenedHyperdata, identity=True)
    kernel = ConditionalDeepKernel(
        below, ExposedRBF(), FreeHyperdata(PLACES, 2), every(2), False, 2
    )
    kernel.initialize_hyperparameter("latent_scale", 1.3)
    below.base_kernel.lengthscale = torch.tensor([LENGTHSCALES], dtype=torch.float64)
    with torch.no_grad():
        kernel.raw_offset.copy_(torch.linspace(-1.0, 1.0, 8).reshape(4, 2).double())
        both = torch.cat([PLACES, x])
        K = 1.3**2 * below.forward(both, both).numpy()
        found = kernel.forward(x, x)
    gain = np.linalg.solve(K[:4, :4], K[:4, 4:]).T
    means = gain @ (1.3 * kernel.raw_offset.detach().numpy())
    covariance = K[4:, 4:] - gain @ K[:4, 4:]
    spread = np.diag(covariance)
    variance = spread[:, None] + spread[None] - 2.0 * covariance
    gap = np.square(means[:, None] - means[None]).sum(-1)
    expected = np.exp(-0.5 * gap / (1.0 + variance)) / (1.0 + variance)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=JITTER)


THREE_LAYERS = {
    (False, 0.1): 0.003,
    (False, 0.3): 0.018,
    (False, 1.0): 0.088,
    (True, 0.1): 0.001,
    (True, 0.3): 0.089,
    (True, 1.0): 0.26,
}
"""By mean and σ₁, what three layers of σ₂ = 1 are said to err by at most."""


@pytest.mark.parametrize(("identity", "scale"), THREE_LAYERS)
def test_three_layers_err_by_what_is_said(identity, scale):
    draws, errors = 20_000, []
    at = torch.tensor([[0.0], [0.3], [0.55], [1.0]], dtype=torch.float64)
    for seed in range(8):
        generator = torch.Generator().manual_seed(seed)
        base, places = RBFKernel(every(1)), []
        kernel = base
        for size, low, high in ((scale, 0.0, 1.0), (1.0, 0.1, 0.9)):
            Z = torch.linspace(low, high, 3, dtype=torch.float64).unsqueeze(-1)
            below = kernel
            kernel = ConditionalDeepKernel(
                below, ExposedRBF(), FreeHyperdata(Z, 1), every(1), identity, 1
            )
            kernel.initialize_hyperparameter("latent_scale", size)
            if identity:
                kernel.initialize_hyperparameter("mean_lengthscale", 0.5)
            base.lengthscale = 0.4
            drawn = torch.randn(3, 1, generator=generator, dtype=torch.float64)
            with torch.no_grad():
                L = torch.linalg.cholesky(
                    below.forward(Z, Z) + 1e-8 * torch.eye(3, dtype=torch.float64)
                )
                kernel.raw_offset.copy_(L @ drawn if below is not base else drawn)
            places.append((Z.numpy(), kernel.raw_offset.detach().numpy()[:, 0]))
        slope = 2.0 if identity else 0.0
        truth, count = deep.three_layers(
            at.numpy(), *places, (scale, 1.0), 0.4, slope, draws, seed
        )
        if count > draws / 5:
            found = kernel.forward(at, at).detach().numpy()
            errors.append(np.abs(found - truth).max())
    assert len(errors) >= 3
    # What draws leave uncertain is below .002.
    assert max(errors) < THREE_LAYERS[identity, scale] + 0.002
    if scale == 1.0:
        assert max(errors) > 0.01, "it is an approximation"


@pytest.mark.parametrize("zero", [True, False], ids=["nothing given", "given"])
def test_fourth_moments_by_draws_of_the_deep_process(zero):
    """Draws of the hidden functions, then of the outer one, at two points."""
    if zero:
        kernel = ZeroMeanDeepKernel(every(2), 2)
        kernel.lengthscale = torch.tensor([LENGTHSCALES], dtype=torch.float64)
        kernel.initialize_hyperparameter("latent_scale", 0.8)
        k1 = covariances.rbf(LENGTHSCALES)
        means = np.zeros((5, 2))
        covariance = 0.64 * covariances.matrix(k1, x, x).numpy()
    else:
        kernel = make(WhitenedHyperdata, identity=True)
        means, covariance = hidden(kernel, given_by(kernel, True), True)
    rng = np.random.default_rng(0)
    draws = 400_000
    root = np.linalg.cholesky(covariance[:2, :2] + 1e-12 * np.eye(2))
    noise = rng.standard_normal((draws, 2, 2))
    latent = means[:2] + np.einsum("ij,djh->dih", root, noise)
    k = deep.rbf(latent[:, 0] - latent[:, 1])
    first, second = rng.standard_normal((2, draws))
    f, g = first, k * first + np.sqrt(1.0 - k**2) * second
    sample = f**2 * g**2
    found = kernel.fourth_moment(x[:1], x[1:2]).item()
    assert found == pytest.approx(sample.mean(), abs=5 * sample.std() / draws**0.5)
    plain = 1.0 + 2.0 * kernel.forward(x[:1], x[1:2]).item() ** 2
    assert found > plain


def test_positive_semi_definite_at_500_random_settings():
    """Hyperparameters far out, one to three layers, points in clusters and copies."""
    generator = torch.Generator().manual_seed(0)
    worst = 0.0
    for setting in range(500):
        dim = 1 + setting % 3
        kernel = MaternKernel(every(dim), 2.5) if setting % 5 else RBFKernel(every(dim))
        for layer in range(1 + setting % 2):
            given = WhitenedHyperdata(spread_places(3 + layer, range(dim), dim), dim)
            exposed = ExposedMatern(1.5) if setting % 7 == 0 else ExposedRBF()
            kernel = ConditionalDeepKernel(kernel, exposed, given, every(dim))
        with torch.no_grad():
            for parameter in kernel.parameters():
                drawn = 1.5 * torch.randn(parameter.shape, generator=generator)
                parameter.copy_(drawn.double())
            X = torch.rand(12, dim, generator=generator).double()
            X = torch.cat([X, X[:3], X[:3] + 1e-7])
            values = torch.linalg.eigvalsh(kernel.forward(X, X))
        worst = min(worst, (values[0] / values[-1]).item())
    assert worst > -tolerances.PSD


def test_places():
    line = spread_places(5, [1], 3, reach=2.0)
    assert line[:, 1].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert (line[:, [0, 2]] == 0.5).all()
    assert spread_places(1, [0], 1).item() == 0.5
    plane = spread_places(64, [0, 1], 2)
    cells = (4 * plane).long()
    assert len(set(map(tuple, cells.tolist()))) == 16


def test_only_the_columns_of_the_base_are_read():
    columns = Columns([1], None, 2)
    given = WhitenedHyperdata(spread_places(3, [1], 2), 1)
    kernel = ConditionalDeepKernel(RBFKernel(columns), ExposedRBF(), given, columns)
    with torch.no_grad():
        kernel.raw_whitened.fill_(0.7)
    moved = x + torch.tensor([0.3, 0.0], dtype=torch.float64)
    torch.testing.assert_close(
        kernel.forward(moved, moved), kernel.forward(x, x), rtol=0, atol=0
    )
    assert math.isclose(kernel.forward(x, x, diag=True).min().item(), 1.0)
