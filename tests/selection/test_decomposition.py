"""The parts of a fitted prior, against joint Gaussians written out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from bokern.build import unfitted
from bokern.errors import EvidenceError
from bokern.inputs import read_observations
from bokern.kernels import KumaraswamyKernel
from bokern.models import StateSpaceGP, StructuredGP
from bokern.selection.decomposition import Decomposition
from bokern.selection.terms import additive_terms
from bokern.structures import KernelSpace, parse
from tests.oracles import covariances
from tests.oracles.warps import kumaraswamy
from tests.tolerances import SHRUNK_CUBE, SUMS

N, NEW = 14, 6


def data(noise=None, dim=2):
    generator = torch.Generator().manual_seed(5)
    X = torch.rand(N, dim, generator=generator, dtype=torch.float64)
    y = 40.0 + 7.0 * torch.sin(6.0 * X[:, 0]) * X[:, -1] + 3.0 * X[:, -1]
    y = y + torch.randn(N, generator=generator, dtype=torch.float64)
    return read_observations(X, y, [(0.0, 1.0)] * dim, noise)


def model_of(text, noise=None, **options) -> StructuredGP:
    """A model at hyperparameters drawn at random."""
    model = unfitted(text, data(noise), **options)
    generator = torch.Generator().manual_seed(len(text))
    with torch.no_grad():
        for parameter in model.parameters():
            draw = torch.randn(parameter.shape, generator=generator, dtype=torch.double)
            parameter += 0.4 * draw
    return model.eval()


def points() -> torch.Tensor:
    generator = torch.Generator().manual_seed(9)
    return torch.rand(NEW, 2, generator=generator, dtype=torch.float64)


def of_columns(function, *columns):
    """A loop oracle that reads some columns."""
    return lambda a, b: function([a[c] for c in columns], [b[c] for c in columns])


def values(model, name) -> list[float]:
    theta = model.log_posterior()
    return theta.values(theta.get())[f"covar_module.{name}"].flatten().tolist()


def sum_of_three(model):
    """Linear([1]) + Matern(2.5) + RBF([0]), in this order."""
    scales = [values(model, f"kernels.{i}.raw_outputscale")[0] for i in range(3)]
    offset = values(model, "kernels.0.base_kernel.raw_offset")
    matern = values(model, "kernels.1.base_kernel.raw_lengthscale")
    rbf = values(model, "kernels.2.base_kernel.raw_lengthscale")
    functions = [
        of_columns(covariances.linear(offset), 1),
        covariances.matern(2.5, matern),
        of_columns(covariances.rbf(rbf), 0),
    ]
    return [scaled(s, f) for s, f in zip(scales, functions, strict=True)]


def product_of_sums(model):
    """(Linear([1]) + RBF([0])) * (Periodic([0]) + RBF([1])), expanded by hand.

    Of each sum the second summand has an outputscale, the first has none.
    """
    overall = values(model, "raw_outputscale")[0]
    base = "base_kernel.kernels"
    offset = values(model, f"{base}.0.kernels.0.raw_offset")
    b = values(model, f"{base}.0.kernels.1.raw_outputscale")[0]
    rbf0 = values(model, f"{base}.0.kernels.1.base_kernel.raw_lengthscale")
    period = values(model, f"{base}.1.kernels.0.raw_period")
    shape = values(model, f"{base}.1.kernels.0.raw_lengthscale")
    d = values(model, f"{base}.1.kernels.1.raw_outputscale")[0]
    rbf1 = values(model, f"{base}.1.kernels.1.base_kernel.raw_lengthscale")
    linear = of_columns(covariances.linear(offset), 1)
    smooth = of_columns(covariances.rbf(rbf0), 0)
    waves = of_columns(covariances.periodic(period, shape), 0)
    other = of_columns(covariances.rbf(rbf1), 1)
    return [
        scaled(overall, times(linear, waves)),
        scaled(overall * d, times(linear, other)),
        scaled(overall * b, times(smooth, waves)),
        scaled(overall * b * d, times(smooth, other)),
    ]


def warped_sum(model):
    """Kumaraswamy(Linear([1]) + RBF([0])): each part under the one warp."""
    a = values(model, "raw_concentration_a")
    b = values(model, "raw_concentration_b")
    scales = [
        values(model, f"base_kernel.kernels.{i}.raw_outputscale")[0] for i in (0, 1)
    ]
    offset = values(model, "base_kernel.kernels.0.base_kernel.raw_offset")
    rbf = values(model, "base_kernel.kernels.1.base_kernel.raw_lengthscale")

    def warp(x):
        return [kumaraswamy(u, a[j], b[j]) for j, u in enumerate(x)]

    linear = of_columns(covariances.linear(offset), 1)
    smooth = of_columns(covariances.rbf(rbf), 0)
    return [
        scaled(scales[0], lambda p, q: linear(warp(p), warp(q))),
        scaled(scales[1], lambda p, q: smooth(warp(p), warp(q))),
    ]


def changed_sum(model):
    """ChangePoint(Linear([1]) + RBF([0]), Matern(2.5)) + Periodic([0]), by hand.

    The two sides fade into each other along the first column.
    """
    base = "kernels.0"
    scores = values(model, f"{base}.raw_location_score")[0]
    location, width = norm.cdf(scores), values(model, f"{base}.raw_width")[0]

    def after(x):
        return 1.0 / (1.0 + math.exp(-(x[0] - location) / width))

    def gated(function, weight):
        return lambda a, b: weight(a) * weight(b) * function(a, b)

    def before(x):
        return 1.0 - after(x)

    first = f"{base}.kernels.before.kernels"
    second = f"{base}.kernels.after"
    offset = values(model, f"{first}.0.base_kernel.raw_offset")
    rbf = values(model, f"{first}.1.base_kernel.raw_lengthscale")
    matern = values(model, f"{second}.base_kernel.raw_lengthscale")
    waves = [
        values(model, f"kernels.1.base_kernel.raw_{name}")
        for name in ("period", "lengthscale")
    ]
    scales = [
        values(model, f"{path}.raw_outputscale")[0]
        for path in (f"{first}.0", f"{first}.1", second, "kernels.1")
    ]
    functions = [
        gated(of_columns(covariances.linear(offset), 1), before),
        gated(of_columns(covariances.rbf(rbf), 0), before),
        gated(covariances.matern(2.5, matern), after),
        of_columns(covariances.periodic(*waves), 0),
    ]
    return [scaled(s, f) for s, f in zip(scales, functions, strict=True)]


def scaled(factor, function):
    return lambda a, b: factor * function(a, b)


def times(f, g):
    return lambda a, b: f(a, b) * g(a, b)


CASES = {
    "Linear(columns=[1]) + Matern(2.5) + RBF(columns=[0])": (sum_of_three, SUMS),
    "(Linear(columns=[1]) + RBF(columns=[0])) * (Periodic(columns=[0]) + "
    "RBF(columns=[1]))": (product_of_sums, SUMS),
    "Kumaraswamy(Linear(columns=[1]) + RBF(columns=[0]))": (
        warped_sum,
        10.0 * SHRUNK_CUBE,
    ),
    "ChangePoint(Linear(columns=[1]) + RBF(columns=[0]), Matern(2.5)) + "
    "Periodic(columns=[0])": (changed_sum, SUMS),
}


def by_hand(model, functions, noise):
    """Means, joint covariance of parts and noise at the data, and at new points."""
    X, z, new = model.train_inputs[0], model.train_targets, points()
    z = (z - model.mean_module.constant).detach().numpy()
    K = [covariances.matrix(f, X, X).numpy() for f in functions]
    cross = [covariances.matrix(f, new, X).numpy() for f in functions]
    prior = [covariances.matrix(f, new, new).numpy() for f in functions]
    A = np.linalg.inv(sum(K) + noise)
    means = [k @ A @ z for k in cross]
    variances = [np.diag(p - k @ A @ k.T) for p, k in zip(prior, cross, strict=True)]
    level = np.full((NEW, len(z)), 1.0 / len(z))
    shapes = [
        np.diag(p - k @ level.T - level @ k.T + level @ own @ level.T)
        - np.diag((k - level @ own) @ A @ (k - level @ own).T)
        for p, k, own in zip(prior, cross, K, strict=True)
    ]
    parts = [*K, noise]
    centre = np.eye(len(z)) - 1.0 / len(z)
    spread = np.empty((len(parts), len(parts)))
    for i, P in enumerate(parts):
        for j, Q in enumerate(parts):
            covariance = (P if i == j else 0.0) - P @ A @ Q
            product = (P @ A @ z) @ centre @ (Q @ A @ z)
            spread[i, j] = (product + np.trace(centre @ covariance)) / len(z)
    return means, variances, shapes, spread / z.var()


@pytest.mark.oracle
@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("known", [False, True])
def test_parts_are_those_of_the_joint_gaussian(text, known) -> None:
    noise = torch.linspace(0.5, 4.0, N).double() if known else None
    model = model_of(text, noise)
    functions, tolerance = CASES[text][0](model), CASES[text][1]
    diagonal = model.likelihood.noise.detach().expand(N).numpy()
    means, variances, shapes, spread = by_hand(model, functions, np.diag(diagonal))
    found = Decomposition(model)
    assert len(found.terms) == len(functions)
    for i, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        ours = found.posterior(i, points())
        np.testing.assert_allclose(ours[0], mean, rtol=0, atol=tolerance)
        np.testing.assert_allclose(ours[1], variance, rtol=0, atol=tolerance)
    for i, shape in enumerate(shapes):
        ours = found.shape_variance(i, points())
        np.testing.assert_allclose(ours, shape, rtol=0, atol=tolerance)
    shares = found.shares()
    own = [*shares.terms, shares.noise]
    np.testing.assert_allclose(own, np.diag(spread), rtol=0, atol=10 * tolerance)
    pairs = spread.sum() - np.trace(spread)
    assert shares.shared == pytest.approx(pairs, abs=10 * tolerance)
    assert sum(own) + shares.shared == pytest.approx(1.0, abs=SUMS)


@pytest.mark.oracle
def test_a_change_is_that_of_the_joint_gaussian() -> None:
    text = next(iter(CASES))
    model = model_of(text)
    functions = sum_of_three(model)
    X, (start, end) = model.train_inputs[0], points()[:2]
    both = torch.stack([start, end])
    noise = model.likelihood.noise.item() * np.eye(N)
    A = np.linalg.inv(
        sum(covariances.matrix(f, X, X).numpy() for f in functions) + noise
    )
    z = (model.train_targets - model.mean_module.constant).detach().numpy()
    difference = np.array([-1.0, 1.0])
    for i, function in enumerate(functions):
        cross = difference @ covariances.matrix(function, both, X).numpy()
        prior = difference @ covariances.matrix(function, both, both).numpy()
        variance = prior @ difference - cross @ A @ cross
        mean, sd = Decomposition(model).change(i, start, end)
        assert mean == pytest.approx(cross @ A @ z, abs=SUMS)
        assert sd == pytest.approx(np.sqrt(variance), abs=SUMS)


@pytest.mark.parametrize(
    "text",
    [
        *CASES,
        "Invariant(RBF(), swap(0, 1)) + Matern(1.5)",
        "Invariant(Linear() + RBF(), swap(0, 1)) + Periodic(columns=[1])",
        "ChangePoint(RBF(), Linear() + RBF(columns=[1])) + RationalQuadratic()",
        "Kumaraswamy(ChangePoint(RBF(), ChangePoint(Linear(), Periodic())))",
        "DeepSE() * (Linear() + Kumaraswamy(RBF() + Linear(columns=[0])))",
        "RBF()",
    ],
)
@pytest.mark.parametrize("mean", ["constant", "zero"])
def test_parts_and_constant_add_up_to_the_posterior(text, mean) -> None:
    model = model_of(text, mean=mean)
    found = Decomposition(model)
    new = points()
    transform = model.outcome_transform
    with torch.no_grad():
        total = found.level[0] + sum(
            found.posterior(i, new)[0] for i in range(len(found.terms))
        )
        expected = model.posterior(new).mean.squeeze(-1)
        raw = transform.means.squeeze() + transform.stdvs.squeeze() * total
    torch.testing.assert_close(raw, expected, rtol=0, atol=SUMS * 100)
    left = found.z - found.level - found.residual()
    at_data = sum(found.posterior(i, found.X)[0] for i in range(len(found.terms)))
    torch.testing.assert_close(at_data, left, rtol=0, atol=SUMS)


def test_which_terms_there_are() -> None:
    def terms(text):
        structure = parse(text).resolve(["a", "b", "c"])
        kernel = structure.kernel(KernelSpace(3))
        return [str(t.structure) for t in additive_terms(structure, kernel)]

    assert terms("RBF() * Periodic()") == ["Periodic() * RBF()"]
    assert terms("Invariant(RBF() + Matern(2.5), permutations(3))") == [
        "Invariant(Matern(2.5) + RBF(), permutations(3, columns=[0, 1, 2]))"
    ]
    assert terms("(RBF() + Linear()) * (RBF() + Linear())") == [
        "Linear() * Linear()",
        "Linear() * RBF()",
        "RBF() * Linear()",
        "RBF() * RBF()",
    ]
    assert terms("Matern(0.5) * (RBF() + Linear() * (Linear() + Periodic()))") == [
        "Linear() * Linear() * Matern(0.5)",
        "Linear() * Periodic() * Matern(0.5)",
        "RBF() * Matern(0.5)",
    ]
    assert terms("Kumaraswamy(Kumaraswamy(RBF() + Linear(), columns=[0]))") == [
        "Kumaraswamy(Kumaraswamy(Linear(), columns=[0]))",
        "Kumaraswamy(Kumaraswamy(RBF(), columns=[0]))",
    ]
    assert terms("RBF() * ChangePoint(Linear(), Matern(0.5) + Linear())") == [
        "Before(Linear()) * RBF()",
        "After(Linear()) * RBF()",
        "After(Matern(0.5)) * RBF()",
    ]


def test_terms_have_copies_of_the_hyperparameters() -> None:
    model = model_of("Kumaraswamy(RBF() + Linear())")
    before = {name: p.clone() for name, p in model.named_parameters()}
    found = Decomposition(model)
    kernel = found.terms[0].kernel
    assert isinstance(kernel, KumaraswamyKernel)
    with torch.no_grad():
        kernel.raw_concentration_a += 1.0
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())


@pytest.mark.filterwarnings("ignore:.*float32.*")
def test_a_float32_model_is_taken_apart_in_float64() -> None:
    given = data()
    single = read_observations(given.X.float(), given.y.float(), [(0.0, 1.0)] * 2)
    found = Decomposition(unfitted("RBF() + Linear()", single))
    mean, variance = found.posterior(0, found.X)
    assert mean.dtype == variance.dtype == torch.float64


def test_a_model_of_several_outcomes_is_refused() -> None:
    given = data()
    model = StructuredGP(given.X, torch.stack([given.y, given.y.cos()], -1))
    with pytest.raises(EvidenceError, match="one outcome"):
        Decomposition(model)


@pytest.mark.equivalence
def test_a_model_by_filtering_has_the_same_parts() -> None:
    x = torch.linspace(0.0, 1.0, 30, dtype=torch.float64).unsqueeze(-1)
    y = torch.sin(7.0 * x) + x + 0.1 * torch.cos(40.0 * x)
    text = "Linear() + Matern(1.5)"
    dense, filtered = (
        Decomposition(kind(x, y, structure=text).eval())
        for kind in (StructuredGP, StateSpaceGP)
    )
    for i in (0, 1):
        ours, theirs = filtered.posterior(i, x), dense.posterior(i, x)
        for a, b in zip(ours, theirs, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=SUMS)
    assert filtered.shares() == dense.shares()
