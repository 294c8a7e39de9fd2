"""Expected kernels under a warp: draws, quadrature, limits, both laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from bokern.kernels import (
    ConditionalDeepKernel,
    MaternKernel,
    RBFKernel,
    SSWIMKernel,
    WarpedMeasureKernel,
    spread_places,
)
from bokern.kernels.conditional_deep import JITTER
from bokern.kernels.expected_mixture import expected_mixture
from bokern.kernels.exposed import ExposedMatern, ExposedRBF
from bokern.kernels.hyperdata import WhitenedHyperdata
from bokern.kernels.warp import PSEUDO_NOISE
from bokern.spectral import Frequencies
from tests import tolerances
from tests.kernels.examples import every, points, randomise
from tests.oracles import deep
from tests.oracles.gaussian_inputs import integrated

DRAWS = 200_000
ERRORS = 4.5
"""Standard errors; by chance so far off in one of 150,000 comparisons."""

MIXTURE = 5e-7
"""24 nodes of a scale mixture, Matérn, for each factor."""

UNIFORM = math.sqrt(12.0)
LAWS = ("independent", "joint")
KINDS = (("rbf", 2.5), ("matern", 1.5), ("matern", 2.5), ("product-matern", 1.5))


def make(dim, spectrum, nu, law="independent", batch=(), layers=1, places=3):
    columns = every(dim)
    return WarpedMeasureKernel(columns, spectrum, nu, layers, places, False, law, batch)


def stationary(spectrum, nu):
    """Of differences ``... x d`` in lengthscales."""
    one = deep.rbf if spectrum == "rbf" else deep.matern(nu)
    if spectrum != "product-matern":
        return one
    return lambda difference: one(difference[..., None]).prod(-1)


def drawn(kernel, x, seed):
    """Warped points, ``draws x n x d``, each draw of one gain and one shift a column.

    From the law of the processes at all points together, written out.
    """
    rng = np.random.default_rng(seed)
    places = kernel.places.values.numpy()
    x = UNIFORM * (x.numpy() - 0.5)
    warped = x
    for name, factor in (("gain", x), ("shift", 1.0)):
        scale, lengthscale = (
            kernel.hyperparameter(f"{name}_{what}").item()
            for what in ("scale", "lengthscale")
        )

        def covariance(a, b, scale=scale, lengthscale=lengthscale):
            square = np.square((a[:, None] - b[None]) / lengthscale).sum(-1)
            return scale**2 * np.exp(-0.5 * square)

        noisy = covariance(places, places) + PSEUDO_NOISE**2 * np.eye(len(places))
        whitened = kernel.hyperparameter(name)[0].detach().numpy()
        across = np.linalg.solve(noisy, covariance(places, x)).T
        mean = across @ np.linalg.cholesky(noisy) @ whitened
        left = covariance(x, x) - across @ covariance(places, x)
        values, vectors = np.linalg.eigh(left)
        root = vectors * np.sqrt(values.clip(0.0))
        noise = rng.standard_normal((DRAWS, *x.shape))
        values = mean + np.einsum("ij,bjd->bid", root, noise)
        warped = warped + values * factor
    return warped


@pytest.mark.oracle
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("spectrum", "nu"), KINDS)
def test_the_kernel_is_a_mean_over_draws_of_the_warp(spectrum, nu, law):
    """Of all points together by the joint law, of each by itself by the other."""
    kernel = randomise(make(2, spectrum, nu, law), seed=2)
    kernel.initialize_hyperparameter("gain_scale", 0.8)
    x, y = points(3, 2), points(3, 2, seed=1)
    if law == "joint":
        both = drawn(kernel, torch.cat([x, y]), seed=0)
        apart = both[:, :3] - both[:, 3:]
    else:
        sides = [drawn(kernel, side, seed) for seed, side in enumerate((x, y))]
        apart = sides[0] - sides[1]
    lengthscale = UNIFORM * kernel.lengthscale.detach().numpy()
    values = stationary(spectrum, nu)(apart / lengthscale)
    with torch.no_grad():
        found = kernel.forward(x, y, diag=True).numpy()
    error = values.std(0) / math.sqrt(DRAWS)
    assert (abs(values.mean(0) - found) < ERRORS * error + MIXTURE).all()


@pytest.mark.oracle
@pytest.mark.parametrize("layers", [1, 2])
def test_a_squared_exponential_by_quadrature(layers):
    kernel = randomise(make(2, "rbf", 2.5, layers=layers))
    kernel.lengthscale = 0.3
    kernel.initialize_hyperparameter("shift_lengthscale", 1.0)
    x, y = points(4, 2), points(4, 2, seed=1)
    with torch.no_grad():
        scale = UNIFORM * kernel.lengthscale
        a, b = kernel.warp(x), kernel.warp(y)
        mean = (a.mean - b.mean) / scale
        variance = (a.variance + b.variance) / scale.square()
        expected = integrated(
            lambda u: torch.exp(-0.5 * u.square().sum(-1)), mean, variance, 96
        )
        found = kernel.forward(x, y, diag=True)
    assert variance.max() > 0.1
    assert (found - expected).abs().max() < tolerances.QUADRATURE


MEANS, VARIANCES = (0.0, 0.02, 0.4, 2.5), (0.0, 1e-4, 0.3, 5.0)


def trapezoid(step, reach=9.0):
    nodes = np.arange(-reach, reach + step / 2, step)
    return nodes, step * np.exp(-0.5 * nodes**2) / math.sqrt(2.0 * math.pi)


@pytest.mark.oracle
@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_one_column_by_quadrature_of_the_true_matern(nu):
    mean, variance = (
        torch.tensor(v, dtype=torch.float64)
        for v in zip(*itertools.product(MEANS, VARIANCES), strict=True)
    )
    nodes, weight = trapezoid(2e-3)
    at = mean.numpy()[:, None] + variance.sqrt().numpy()[:, None] * nodes
    expected = (weight * deep.matern(nu)(at[..., None])).sum(-1)
    found = expected_mixture(ExposedMatern(nu).rule, [mean], [variance]).numpy()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=MIXTURE)


@pytest.mark.oracle
@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_columns_of_different_variance_share_the_lengthscale_of_a_matern(nu):
    mean, variance = (0.2, -0.9), (0.3, 1.7)
    line, weight = trapezoid(0.02, 8.0)
    plane = np.stack(np.meshgrid(line, line, indexing="ij"), -1)
    expected = weight @ deep.matern(nu)(mean + np.sqrt(variance) * plane) @ weight
    given = [torch.tensor(v, dtype=torch.float64) for v in (*mean, *variance)]
    found = expected_mixture(ExposedMatern(nu).rule, given[:2], given[2:])
    # The plane is coarse where a Matérn has a kink.
    assert found.item() == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("rule", [ExposedRBF.rule, ExposedMatern(1.5).rule])
def test_sums_of_many_columns_neither_overflow_nor_lose_a_value(rule):
    zero = 60 * [torch.zeros(2)]
    assert expected_mixture(rule, zero, zero).tolist() == pytest.approx([1.0, 1.0])
    wide = 60 * [torch.full((2,), 1e6)]
    assert expected_mixture(rule, zero, wide).tolist() == [0.0, 0.0]


def test_sums_in_parts_are_those_of_the_whole(monkeypatch):
    """Values and gradients, of entries in parts of few and of tensors that expand."""
    latents = [points(7, 1, seed=1), points(1, 5, seed=2), points(7, 5, seed=3)]
    latents = [t.requires_grad_() for t in (*latents, points(5, seed=4))]
    results = []
    for most in (2**16, 100):
        entries = dict.fromkeys(("cpu", "cuda"), most)
        monkeypatch.setattr("bokern.kernels.expected_mixture.CHUNK_ENTRIES", entries)
        value = expected_mixture(ExposedMatern(1.5).rule, latents[:2], latents[2:])
        assert value.shape == (7, 5)
        results.append([value, *torch.autograd.grad(value.square().sum(), latents)])
    for whole, parts in zip(*results, strict=True):
        assert (whole - parts).abs().max() < tolerances.SUMS


@pytest.mark.oracle
@pytest.mark.parametrize("spectrum", ["rbf", "matern", "product-matern"])
@pytest.mark.parametrize("layers", [1, 2])
def test_waves_come_near_it_as_their_number_grows(spectrum, layers):
    exact = randomise(make(2, spectrum, 1.5, layers=layers))
    x = points(20, 2)
    errors = []
    for count in (64, 512, 4096):
        waves = Frequencies(spectrum, 1.5, count, 2)
        kernel = SSWIMKernel(every(2), waves, layers, places=3)
        kernel.load_state_dict(exact.state_dict())
        with torch.no_grad():
            error = kernel.forward(x, x) - exact.forward(x, x)
        errors.append(error.square().mean().sqrt().item())
    assert errors[2] < 0.5 * errors[1] < 0.25 * errors[0]
    assert errors[2] < 2e-3


@pytest.mark.property
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("spectrum", "nu"), KINDS)
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_is_positive_semi_definite(spectrum, nu, law, dim):
    """With points that coincide, for random hyperparameters."""
    x = points(2, 40, dim)
    x = torch.cat([x, x[:, :3], x[:, :3] + 1e-6], 1)
    for seed in range(3):
        kernel = randomise(make(dim, spectrum, nu, law, (2,)), seed)
        with torch.no_grad():
            eigenvalues = torch.linalg.eigvalsh(kernel.forward(x, x))
        assert (eigenvalues > -tolerances.PSD * eigenvalues[..., -1:]).all()


def plain(spectrum, nu, x, y, lengthscale):
    """The kernel without a warp."""
    if spectrum == "product-matern":
        total = 1.0
        for j in range(x.shape[-1]):
            one = MaternKernel(every(1), nu)
            one.lengthscale = lengthscale[..., [j]]
            total = total * one.forward(x[..., [j]], y[..., [j]])
        return total
    columns = every(x.shape[-1])
    kernel = RBFKernel(columns) if spectrum == "rbf" else MaternKernel(columns, nu)
    kernel.lengthscale = lengthscale
    return kernel.forward(x, y)


@pytest.mark.oracle
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("spectrum", "nu"), KINDS)
def test_reduces_to_the_plain_kernel(spectrum, nu, law):
    """At targets of 0, as the scales of the warps vanish."""
    kernel = randomise(make(3, spectrum, nu, law, layers=2 - LAWS.index(law)))
    for name in ("gain", "shift"):
        kernel.initialize_hyperparameter(name, 0.0)
        kernel.initialize_hyperparameter(f"{name}_scale", 1e-6)
    x, y = points(5, 3), points(4, 3, seed=1)
    expected = plain(spectrum, nu, x, y, kernel.lengthscale)
    assert (kernel.forward(x, y) - expected).abs().max() < 3 * MIXTURE


@pytest.mark.parametrize(("spectrum", "nu"), KINDS)
def test_variances_by_both_laws(spectrum, nu):
    """1, or less the less is known of the warp; near points move alike or not."""
    one, two = (randomise(make(2, spectrum, nu, law)) for law in LAWS)
    x = points(6, 2)
    with torch.no_grad():
        less, unit = (k.forward(x, x, diag=True) for k in (one, two))
        near = [k.forward(x, x + 1e-4, diag=True) for k in (one, two)]
        assert (unit - 1.0).abs().max() < tolerances.ROUNDING
        assert (less < 0.999).all()
        assert (near[1] > 1.0 - 1e-4).all()
        assert (near[0] - less).abs().max() < 1e-3
        one.initialize_hyperparameter("shift_scale", 3.0)
        assert (one.forward(x, x, diag=True) < less).all()


def test_near_points_by_the_joint_law_lose_no_digits():
    r"""$1 - k = r^2/2 + \ldots$ at distances of 1e-6, of a squared exponential."""
    kernel = randomise(make(1, "rbf", 2.5, "joint"))
    x = points(1, 1)
    with torch.no_grad():
        steps = torch.tensor([[1e-3], [1e-5]], dtype=torch.float64)
        lost = 1.0 - kernel.forward(x, x + steps)[0]
    assert lost[1].item() == pytest.approx(1e-4 * lost[0].item(), rel=1e-2)


@pytest.mark.oracle
@pytest.mark.parametrize("spectrum", ["rbf", "matern"])
def test_the_joint_law_of_shifts_is_that_of_a_conditional_deep_kernel(spectrum):
    """Where pseudo-targets have as little noise as hyperdata are given."""
    dim, count, nu = 2, 4, 2.5
    scale, box = PSEUDO_NOISE / JITTER[torch.float64] ** 0.5, 0.4
    outer = 2.0 * scale
    kernel = randomise(make(dim, spectrum, nu, "joint", places=count))
    kernel.initialize_hyperparameter("gain", 0.0)
    kernel.initialize_hyperparameter("gain_scale", 1e-6)
    kernel.initialize_hyperparameter("shift_scale", scale)
    kernel.initialize_hyperparameter("shift_lengthscale", UNIFORM * box)
    kernel.lengthscale = outer / UNIFORM
    given = WhitenedHyperdata(spread_places(count, range(dim), dim), dim)
    exposed = ExposedRBF() if spectrum == "rbf" else ExposedMatern(nu)
    below = ConditionalDeepKernel(RBFKernel(every(dim)), exposed, given, every(dim))
    below.base_kernel.lengthscale = box
    below.initialize_hyperparameter("latent_scale", scale / outer)
    below.initialize_hyperparameter("mean_lengthscale", outer / UNIFORM)
    below.initialize_hyperparameter("whitened", kernel.hyperparameter("shift")[0])
    x, y = points(6, dim), points(5, dim, seed=1)
    with torch.no_grad():
        found, expected = kernel.forward(x, y), below.forward(x, y)
    assert expected.std() > 0.02
    assert (found - expected).abs().max() < 1e-7
