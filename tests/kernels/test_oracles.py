"""Kernels against independent answers: loops, SciPy, GPyTorch, BoTorch, limits."""

from __future__ import annotations

import math
from statistics import NormalDist

import gpytorch.kernels as peers
import pytest
import torch
from botorch.models.transforms.input import Warp
from hypothesis import given
from hypothesis import strategies as st

from bokern.kernels import (
    ChangePointKernel,
    Columns,
    KumaraswamyKernel,
    LinearKernel,
    MaternKernel,
    OutputscaleKernel,
    PeriodicKernel,
    ProductKernel,
    ProductMaternKernel,
    RationalQuadraticKernel,
    RBFKernel,
    SumKernel,
    ZeroMeanDeepKernel,
)
from tests import tolerances
from tests.kernels.examples import every, first, points
from tests.oracles import covariances, warps

pytestmark = pytest.mark.oracle

SCALES = {1: [0.4], 3: [0.3, 0.7, 1.9], 6: [0.5, 0.9, 1.1, 2.0, 0.8, 3.0]}


@pytest.fixture(params=SCALES, ids=lambda d: f"d={d}")
def dim(request):
    return request.param


@pytest.fixture
def pair(dim):
    return points(5, dim), points(4, dim, seed=1)


def scaled(kernel, dim):
    kernel.lengthscale = row(SCALES[dim])
    return kernel


def row(values):
    return torch.tensor([values], dtype=torch.float64)


def same(kernel, expected, x, y, tolerance):
    with torch.no_grad():
        for a, b in ((x, y), (x, x)):
            torch.testing.assert_close(
                kernel.forward(a, b), expected(a, b), rtol=0.0, atol=tolerance
            )


def loop(function):
    return lambda x, y: covariances.matrix(function, x, y)


def peer(kernel, **values):
    """A kernel of GPyTorch's own, as a function."""
    kernel = kernel.double().initialize(**values)
    return lambda x, y: kernel(x, y).to_dense()


# -- distances ---------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_a_product_of_materns_of_one_column(dim, pair, nu):
    kernel = scaled(ProductMaternKernel(every(dim), nu), dim)
    each = [covariances.matern(nu, [scale]) for scale in SCALES[dim]]

    def product(a, b):
        return math.prod(k([p], [q]) for k, p, q in zip(each, a, b, strict=True))

    same(kernel, loop(product), *pair, 1e-8)


def test_rbf(dim, pair):
    kernel = scaled(RBFKernel(every(dim)), dim)
    same(kernel, loop(covariances.rbf(SCALES[dim])), *pair, tolerances.ROUNDING)
    lengthscale = row(SCALES[dim])
    own = peer(peers.RBFKernel(ard_num_dims=dim), lengthscale=lengthscale)
    same(kernel, own, *pair, tolerances.ROUNDING)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern(dim, pair, nu):
    kernel = scaled(MaternKernel(every(dim), nu), dim)
    naive = loop(covariances.matern(nu, SCALES[dim]))
    same(kernel, naive, *pair, tolerances.PRODUCT_DISTANCE)
    lengthscale = row(SCALES[dim])
    own = peer(peers.MaternKernel(nu, ard_num_dims=dim), lengthscale=lengthscale)
    same(kernel, own, *pair, tolerances.PRODUCT_DISTANCE)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_to_the_last_digits_by_direct_distances(nu):
    kernel = scaled(MaternKernel(every(3), nu), 3)
    naive = loop(covariances.matern(nu, SCALES[3]))
    same(kernel, naive, points(5, 3), points(4, 3, seed=1), tolerances.BESSEL)


def test_ornstein_uhlenbeck_is_markov():
    """k(a, c) = k(a, b) k(b, c) for a < b < c, on a line."""
    kernel = MaternKernel(every(1), 0.5)
    x = torch.tensor([[0.1], [0.35], [0.8]], dtype=torch.float64)
    K = kernel.forward(x, x).tolist()
    assert math.isclose(K[0][2], K[0][1] * K[1][2], rel_tol=1e-12)
    assert math.isclose(K[0][1], math.exp(-0.25 / 0.3), rel_tol=1e-12)


@pytest.mark.parametrize("alpha", [0.3, 2.0, 9.0])
def test_rational_quadratic(dim, pair, alpha):
    kernel = scaled(RationalQuadraticKernel(every(dim)), dim)
    kernel.initialize_hyperparameter("alpha", alpha)
    naive = loop(covariances.rational_quadratic(alpha, SCALES[dim]))
    same(kernel, naive, *pair, tolerances.QUADRATURE)
    lengthscale = row(SCALES[dim])
    own = peers.RQKernel(ard_num_dims=dim)
    own = peer(own, lengthscale=lengthscale, alpha=row(alpha))
    same(kernel, own, *pair, tolerances.SUMS)


def test_rational_quadratic_becomes_rbf(dim, pair):
    kernel = scaled(RationalQuadraticKernel(every(dim)), dim)
    limit = scaled(RBFKernel(every(dim)), dim)
    errors = []
    for alpha in (1e3, 1e6):
        kernel.initialize_hyperparameter("alpha", alpha)
        errors.append((kernel.forward(*pair) - limit.forward(*pair)).abs().max())
    assert errors[1] < 1e-6
    assert 500 < errors[0] / errors[1] < 2000, "the error falls as 1/α"


# -- periodic and linear ------------------------------------------------------------


def test_periodic(dim, pair):
    periods = [0.2 + 0.1 * j for j in range(dim)]
    kernel = scaled(PeriodicKernel(every(dim)), dim)
    kernel.initialize_hyperparameter("period", row(periods))
    naive = loop(covariances.periodic(periods, SCALES[dim]))
    same(kernel, naive, *pair, tolerances.PRODUCT_DISTANCE)
    own = peer(
        peers.PeriodicKernel(ard_num_dims=dim),
        lengthscale=row(SCALES[dim]) ** 2,
        period_length=row(periods),
    )
    same(kernel, own, *pair, tolerances.PRODUCT_DISTANCE)


def test_periodic_repeats():
    kernel = PeriodicKernel(every(1))
    x = points(5, 1)
    shifted = kernel.forward(x, x + 4 * 0.3)
    torch.testing.assert_close(shifted, kernel.forward(x, x), rtol=0.0, atol=1e-10)


def test_linear(dim, pair):
    offsets = [0.1 * j - 0.2 for j in range(dim)]
    kernel = LinearKernel(every(dim))
    kernel.initialize_hyperparameter("offset", row(offsets))
    naive = loop(covariances.linear(offsets))
    same(kernel, naive, *pair, tolerances.ROUNDING)
    own = peer(peers.LinearKernel(), variance=1.0)
    shift = row(offsets)
    same(kernel, lambda x, y: own(x - shift, y - shift), *pair, tolerances.ROUNDING)


def test_wrappers_and_composites(pair, dim):
    x, y = pair
    rbf, line = scaled(RBFKernel(every(dim)), dim), LinearKernel(first(dim))
    scale = OutputscaleKernel(rbf)
    scale.initialize_hyperparameter("outputscale", 2.5)
    a = covariances.matrix(covariances.rbf(SCALES[dim]), x, y)
    b = covariances.matrix(covariances.linear([0.5]), x[:, :1], y[:, :1])
    for kernel, expected in (
        (scale, 2.5 * a),
        (SumKernel([scale, line]), 2.5 * a + b),
        (ProductKernel([rbf, line, rbf]), a * a * b),
    ):
        result = kernel.forward(x, y)
        torch.testing.assert_close(result, expected, rtol=0.0, atol=tolerances.ROUNDING)


# -- change-points -------------------------------------------------------------------


def change(dim, column, score, width):
    """From an RBF kernel to a trend of variance 2.5, along a column."""
    before, after = scaled(RBFKernel(every(dim)), dim), LinearKernel(every(dim))
    after = OutputscaleKernel(after)
    after.initialize_hyperparameter("outputscale", 2.5)
    kernel = ChangePointKernel(before, after, Columns([column], None, dim))
    kernel.initialize_hyperparameter("location_score", score)
    kernel.initialize_hyperparameter("width", width)
    return kernel


@pytest.mark.parametrize(("score", "width"), [(-0.4, 0.05), (0.9, 0.3)])
def test_change_point(dim, pair, score, width):
    column = dim - 1
    kernel = change(dim, column, score, width)
    location = NormalDist().cdf(score)
    line = covariances.linear([0.5] * dim)
    naive = covariances.change_point(
        covariances.rbf(SCALES[dim]),
        lambda a, b: 2.5 * line(a, b),
        location,
        width,
        column,
    )
    assert math.isclose(kernel.location.item(), location, rel_tol=1e-12)
    same(kernel, loop(naive), *pair, tolerances.ROUNDING)


def test_a_sharp_change_leaves_two_blocks(dim, pair):
    kernel = change(dim, 0, 0.0, 1e-6)
    x = torch.cat(pair)
    x = x[(x[:, 0] - 0.5).abs() > 1e-3]
    before, after = (k.forward(x, x) for k in (kernel.before, kernel.after))
    late = x[:, 0] > 0.5
    assert late.any()
    assert (~late).any()
    both = late[:, None] & late
    expected = torch.where(both, after, torch.where(late[:, None] | late, 0.0, before))
    torch.testing.assert_close(kernel.forward(x, x), expected, rtol=0.0, atol=1e-12)


def test_an_endless_change_is_a_quarter_of_the_sum(dim, pair):
    quarter = 0.25 * (
        change(dim, 0, 0.0, 1.0).before.forward(*pair)
        + change(dim, 0, 0.0, 1.0).after.forward(*pair)
    )
    errors = [
        (change(dim, 0, 0.0, width).forward(*pair) - quarter).abs().max()
        for width in (1e3, 1e5)
    ]
    assert errors[1] < 1e-4
    assert 50 < errors[0] / errors[1] < 200, "the error falls as 1/width"


@pytest.mark.parametrize("diag", [False, True], ids=["full", "diag"])
def test_the_weights_keep_their_digits_far_from_the_change(diag):
    """1 − σ(u) by subtraction is 0 from u = 37 on."""
    after = OutputscaleKernel(RBFKernel(every(1)))
    after.initialize_hyperparameter("outputscale", 1e-60)
    kernel = ChangePointKernel(RBFKernel(every(1)), after, every(1))
    kernel.initialize_hyperparameter("width", 0.01)
    x = torch.tensor([[1.0]]).double()
    value = kernel.forward(x, x, diag=diag).item()
    assert math.isclose(value, math.exp(-50.0) ** 2, rel_tol=1e-9)


# -- warps ---------------------------------------------------------------------------

positive = st.floats(0.1, 8.0)


@given(positive, positive)
def test_kumaraswamy_warp_against_scipy(a, b):
    kernel = KumaraswamyKernel(RBFKernel(every(1)), every(1))
    kernel.initialize_hyperparameter("concentration_a", a)
    kernel.initialize_hyperparameter("concentration_b", b)
    u = torch.linspace(0.05, 0.95, 19, dtype=torch.float64).unsqueeze(-1)
    with torch.no_grad():
        warped = kernel.warp(u)
    expected = torch.from_numpy(warps.kumaraswamy(u.numpy(), a, b))
    torch.testing.assert_close(warped, expected, rtol=0.0, atol=1e-5)
    assert (warped.diff(dim=0) > 0).all()


def test_kumaraswamy_warp_against_botorch():
    a, b = row([0.4, 3.0]), row([2.0, 0.7])
    kernel = KumaraswamyKernel(RBFKernel(every(2)), every(2))
    kernel.initialize_hyperparameter("concentration_a", a)
    kernel.initialize_hyperparameter("concentration_b", b)
    own = Warp(d=2, indices=[0, 1], eps=1e-7).double()
    with torch.no_grad():
        own.concentration1.copy_(a.squeeze(0))
        own.concentration0.copy_(b.squeeze(0))
        x = torch.cat([points(6, 2), torch.tensor([[0.0, 1.0], [1.0, 0.0]]).double()])
        torch.testing.assert_close(
            kernel.warp(x), own(x), rtol=0.0, atol=tolerances.SUMS
        )


def test_kumaraswamy_is_its_base_at_the_identity(dim, pair):
    base = scaled(MaternKernel(every(dim), 2.5), dim)
    kernel = KumaraswamyKernel(base, every(dim))
    same(kernel, base.forward, *pair, tolerances.SHRUNK_CUBE)


def test_kumaraswamy_outside_the_cube_is_at_its_face():
    kernel = KumaraswamyKernel(RBFKernel(every(1)), every(1))
    x = torch.tensor([[-0.5], [0.0], [1.0], [1.5]]).double()
    warped = kernel.warp(x)
    assert warped[0] == warped[1] < 1e-6
    assert warped[3] == warped[2] > 1.0 - 1e-6


def test_kumaraswamy_slopes_at_the_faces_do_not_vanish():
    kernel = KumaraswamyKernel(RBFKernel(every(1)), every(1))
    x = torch.tensor([[0.0], [1.0]]).double().requires_grad_(True)
    (slope,) = torch.autograd.grad(kernel.warp(x).sum(), x)
    torch.testing.assert_close(slope, torch.ones_like(x), rtol=0.0, atol=1e-5)


# -- deep ------------------------------------------------------------------------------


def deep(scale, width, lengthscale=0.5):
    kernel = ZeroMeanDeepKernel(every(1), width)
    kernel.lengthscale = lengthscale
    kernel.initialize_hyperparameter("latent_scale", scale)
    return kernel


def at_distance(kernel, distance):
    x = torch.tensor([[0.0]]).double()
    return kernel.forward(x, x + distance).item()


@pytest.mark.statistical
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("distance", [0.1, 0.6, 3.0])
def test_deep_against_draws_of_the_hidden_layer(width, scale, distance):
    """Four standard errors: a false alarm in 16 000 for each of 18 cases."""
    correlation = math.exp(-0.5 * (distance / 0.5) ** 2)
    mean, error = covariances.deep_by_draws(correlation, scale, width)
    value = at_distance(deep(scale, width), distance)
    assert abs(value - mean) < min(tolerances.MONTE_CARLO, 4.0 * error)


@pytest.mark.parametrize("distance", [0.2, 0.7, 2.0])
def test_deep_at_infinite_width(distance):
    D = -math.expm1(-0.5 * (distance / 0.5) ** 2)
    c = 1.7
    limit = math.exp(-c * D)
    errors = [
        abs(at_distance(deep(math.sqrt(c / width), width), distance) - limit)
        for width in (100, 10_000)
    ]
    assert errors[1] < 1e-3
    assert 50 < errors[0] / errors[1] < 200, "the error falls as 1/H"


@pytest.mark.parametrize("width", [1, 4])
def test_deep_at_a_small_latent_scale(width):
    D = -math.expm1(-0.5 * (0.4 / 0.5) ** 2)
    remainders = [
        at_distance(deep(s, width), 0.4) - (1.0 - width * s**2 * D)
        for s in (1e-2, 1e-3)
    ]
    second = 0.5 * width * (width + 2) * D**2
    assert math.isclose(remainders[0] / 1e-8, second, rel_tol=1e-2)
    assert abs(remainders[1]) < 1e-3 * abs(remainders[0])


def test_deep_keeps_its_digits_at_small_distances():
    """1 − k = H σ₁² d²/ℓ²/2 to first order: lost if D came from 1 − exp."""
    x = torch.tensor([[0.0], [1e-9]]).double()
    kernel = deep(1e6, 1, lengthscale=1.0)
    value = kernel.forward(x, x)[0, 1].item()
    expected = (1.0 + 1e12 * 1e-18) ** -0.5
    assert math.isclose(1.0 - value, 1.0 - expected, rel_tol=1e-6)


def test_deep_far_away_stays_correlated():
    value = at_distance(deep(2.0, 3), 100.0)
    assert math.isclose(value, (1.0 + 2.0 * 4.0) ** -1.5, rel_tol=1e-12)
