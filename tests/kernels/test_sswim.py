"""Waves on warped inputs: limits, moments of layers, fading."""

from __future__ import annotations

import pytest
import torch

from bokern.kernels import SparseSpectrumKernel, SSWIMKernel, WarpedMeasureKernel
from bokern.kernels.gaussian_warp import Process, Spread, moments, warped
from bokern.spectral import Frequencies
from tests.kernels.examples import every, points, randomise
from tests.oracles.gaussian_inputs import DIM, integrated, uncertain

NOISE = 0.2
NEAR = {"rtol": 1e-8, "atol": 1e-9}


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def process(seed):
    scale, lengthscale = (0.3 + normal(2, seed=seed).abs()).unbind()
    return Process(normal(5, DIM, seed=seed + 1), scale, 1.0 + lengthscale, NOISE)


def layer(x, places, gain, shift, plug_in):
    """One layer's output."""
    g, h = (moments(x, places, each, plug_in) for each in (gain, shift))
    return warped(x, (1.0 + g[0], g[1]), h)


PLACES = 1.5 * normal(5, DIM, seed=9)
GAIN, SHIFT = process(1), process(3)


def at_known(process, x):
    """Mean, ``n x d``, and variance, ``n x 1``, by conditioning a Gaussian."""

    def covariance(a, b):
        return process.scale**2 * torch.exp(
            -0.5 * (torch.cdist(a, b) / process.lengthscale).square()
        )

    K = covariance(PLACES, PLACES) + NOISE**2 * torch.eye(5).double()
    targets = torch.linalg.cholesky(K) @ process.targets
    k = covariance(x, PLACES)
    mean = k @ torch.linalg.solve(K, targets)
    variance = process.scale**2 - (k * torch.linalg.solve(K, k.T).T).sum(-1)
    return mean, variance.unsqueeze(-1)


@pytest.mark.oracle
def test_a_layer_of_known_inputs_is_a_conditioned_process():
    x, _ = uncertain(seed=5)
    (g, vg), (h, vh) = at_known(GAIN, x), at_known(SHIFT, x)
    found = layer(Spread(x, None), PLACES, GAIN, SHIFT, plug_in=False)
    torch.testing.assert_close(found.mean, (1.0 + g) * x + h, **NEAR)
    torch.testing.assert_close(found.variance, x.square() * vg + vh, **NEAR)


@pytest.mark.oracle
def test_a_layer_of_uncertain_inputs_matches_moments():
    """Of g and h by the law of total variance; g, h and x are taken independent."""
    x, v = uncertain(seed=6)
    moments = []
    for each in (GAIN, SHIFT):
        mean = integrated(lambda u, p=each: at_known(p, u)[0], x, v)
        square = integrated(lambda u, p=each: at_known(p, u)[0].square(), x, v)
        within = integrated(lambda u, p=each: at_known(p, u)[1], x, v)
        moments.append((mean, within + square - mean.square()))
    (g, vg), (h, vh) = moments
    g = 1.0 + g
    found = layer(Spread(x, v), PLACES, GAIN, SHIFT, plug_in=False)
    torch.testing.assert_close(found.mean, g * x + h, **NEAR)
    expected = v * vg + v * g.square() + vg * x.square() + vh
    torch.testing.assert_close(found.variance, expected, **NEAR)
    certain = layer(Spread(x, torch.zeros_like(v)), PLACES, GAIN, SHIFT, False)
    known = layer(Spread(x, None), PLACES, GAIN, SHIFT, False)
    torch.testing.assert_close(certain.variance, known.variance, **NEAR)


def test_plugging_in_leaves_out_how_a_function_varies_over_its_input():
    """Of a steep shift of 25 places, at input variances of .2."""
    axis = torch.linspace(-2.0, 2.0, 5, dtype=torch.float64)
    places = torch.cartesian_prod(axis, axis)
    one = torch.ones(()).double()
    still = Process(torch.zeros(25, DIM).double(), 1e-6 * one, one, 0.05)
    moves = Process(6.0 * normal(25, DIM, seed=8), one, one, 0.05)
    x = Spread(0.3 * uncertain(seed=7)[0], torch.full((4, DIM), 0.2).double())
    right, plugged = (layer(x, places, still, moves, p) for p in (False, True))
    torch.testing.assert_close(plugged.mean, right.mean, **NEAR)
    added = [law.variance - x.variance for law in (right, plugged)]
    assert (added[1].sum(-1) < 0.5 * added[0].sum(-1)).all()


@pytest.mark.oracle
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_reduces_to_plain_waves(layers):
    """At targets of 0, as the scales of the warps vanish."""
    drawn = Frequencies("matern", 1.5, 7, 3)
    kernel = randomise(SSWIMKernel(every(3), drawn, layers, places=4))
    plain = SparseSpectrumKernel(every(3), drawn)
    plain.lengthscale = kernel.lengthscale
    for name in ("gain", "shift"):
        kernel.initialize_hyperparameter(name, 0.0)
        kernel.initialize_hyperparameter(f"{name}_scale", 1e-6)
    x, y = points(5, 3), points(4, 3, seed=1)
    torch.testing.assert_close(
        kernel.forward(x, y), plain.forward(x, y), rtol=0.0, atol=1e-8
    )


def test_the_variance_falls_where_the_warp_is_unknown():
    drawn = Frequencies("rbf", 2.5, 32, 2)
    kernel = SSWIMKernel(every(2), drawn, places=4)
    kernel.initialize_hyperparameter("gain_lengthscale", 0.5)
    kernel.initialize_hyperparameter("shift_lengthscale", 0.5)
    near = kernel.places.values / 12.0**0.5 + 0.5
    far = torch.tensor([[3.0, -2.0]], dtype=torch.float64)
    with torch.no_grad():
        at_places = kernel.forward(near, near, diag=True)
        away = kernel.forward(far, far, diag=True)
    assert (at_places < 1.0).all()
    assert away < 0.5 * at_places.min()


@pytest.mark.oracle
def test_the_kernel_is_a_mean_over_independent_draws_of_the_warp():
    """Within 4.5 standard errors of 200 000 pairs of warped points, of one layer."""
    drawn = Frequencies("rbf", 2.5, 6, 2)
    kernel = randomise(SSWIMKernel(every(2), drawn, places=3), seed=2)
    x, y = points(3, 2), points(3, 2, seed=1)
    with torch.no_grad():
        found = kernel.forward(x, y, diag=True)
        scale = 12.0**0.5 * kernel.lengthscale
        sides = []
        for seed, side in enumerate((x, y)):
            mean, variance = kernel.warp(side)
            noise = normal(200_000, *mean.shape, seed=seed)
            sides.append(drawn.features((mean + variance.sqrt() * noise) / scale))
        products = (sides[0] * sides[1]).sum(-1)
        error = products.std(0) / 200_000**0.5
    assert ((products.mean(0) - found).abs() < 4.5 * error).all()


@pytest.mark.parametrize("spectrum", ["rbf", "matern", "product-matern"])
def test_a_fit_begins_with_what_many_waves_tend_to(spectrum):
    """At the same lengthscales; the warp is left out."""
    drawn = Frequencies(spectrum, 2.5, 20_000, 2)
    plain = randomise(SparseSpectrumKernel(every(2), drawn))
    moved = SSWIMKernel(every(2), drawn, places=4)
    moved.lengthscale = plain.lengthscale
    x, y = points(5, 2), points(4, 2, seed=1)
    with torch.no_grad():
        expected = plain.forward(x, y)
        exact = WarpedMeasureKernel(every(2), spectrum, 2.5, places=4)
        exact.lengthscale = plain.lengthscale
        for kernel in (plain, moved, exact):
            begun = kernel.beginning().forward(x, y)
            torch.testing.assert_close(begun, expected, rtol=0.0, atol=2e-3)


def test_a_fit_of_few_waves_begins_with_themselves():
    """They are far from what many tend to; the warp is left out."""
    drawn = Frequencies("rbf", 2.5, 20, 2)
    plain = randomise(SparseSpectrumKernel(every(2), drawn))
    assert plain.beginning() is plain
    moved = SSWIMKernel(every(2), drawn, places=4)
    moved.lengthscale = plain.lengthscale
    x, y = points(5, 2), points(4, 2, seed=1)
    with torch.no_grad():
        begun = moved.beginning()
        torch.testing.assert_close(begun.forward(x, y), plain.forward(x, y))
    assert type(begun) is SparseSpectrumKernel
