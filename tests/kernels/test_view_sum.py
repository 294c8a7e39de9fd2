"""Sums over a group: against loops, invariance, and when one sum is enough."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bokern.kernels import RBFKernel, StructureKernel, ViewSumKernel, without_symmetry
from bokern.structures import Invariant, KernelSpace, parse
from bokern.views import (
    Identity,
    Orbit,
    closure,
    cyclic,
    permutations,
    product,
    reflections,
    sign_flips,
    swap,
)
from tests import strategies, tolerances
from tests.kernels.examples import every, points, randomise
from tests.oracles import covariances, group_actions

DIM = 3
BASES = (
    "RBF()",
    "Matern(0.5)",
    "Matern(1.5)",
    "Matern(2.5)",
    "RationalQuadratic()",
    "Periodic()",
    "DeepSE()",
    "DeepSE(3)",
    "Linear()",
    "Kumaraswamy(RBF())",
    "Kumaraswamy(RBF(), columns=[1])",
    "Linear() + Matern(1.5)",
    "Periodic() * RBF()",
    "RBF(columns=[0])",
    "Invariant(RBF(), swap(0, 2))",
    "Invariant(RBF(), cyclic(3, columns=[0, 1, 2]), tied=False, normalize=False)",
    "RBF(columns=[0, 2]) + Linear(columns=[1])",
)
GROUPS = (
    permutations(3, [0, 1, 2]),
    cyclic(3, [0, 1, 2]),
    swap(0, 2),
    reflections(0),
    sign_flips(0, 2),
    product(swap(0, 2), reflections(1)),
    closure(swap(0, 1), reflections(0)),
)
LOOPED = {
    "Matern(1.5)": [((), True)],
    "Linear()": [((), False)],
    "Linear() * RBF()": [((), False)],
    "Matern(1.5) + RBF()": [((), True)],
    "Linear() + RBF()": [((0,), False), ((1,), True)],
    "Linear() + Matern(0.5) + RBF()": [((0,), False), ((1,), True), ((2,), True)],
}
"""Parts of a base that are averaged together, and whether they are normalised."""
CASES = list(itertools.product(BASES, GROUPS))


VANISHING = tuple(text for text in BASES if "Linear" in text)
"""Bases whose variance is zero somewhere, or of which that of a part is."""


def correlation(structure, seed=0, dim=DIM):
    return randomise(structure.correlation(KernelSpace(dim)), seed)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]!r}")
def case(request):
    return request.param


@pytest.mark.equivalence
@pytest.mark.parametrize("normalize", [True, False], ids=["normalised", "bare"])
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_invariant_covariances(case, tied, normalize):
    """Equal to the double sum, k(gx, x') = k(x, x'), PSD, and of variance 1."""
    text, group = case
    base = parse(text)
    structure = Invariant(base, group, tied=tied, normalize=normalize)
    kernel = correlation(structure)
    x, y = points(5, DIM), points(4, DIM, seed=1)
    with torch.no_grad():
        K, cross = kernel.forward(x, x), kernel.forward(x, y)
        diagonal = kernel.forward(x, x, diag=True)
        paired = kernel.forward(x[:4], y, diag=True)
        moved = kernel.forward(Orbit(group, DIM)(x), y)
        for average in averages(kernel):
            average.single_sum = False
        double = kernel.forward(x, y)
        double_diagonal = kernel.forward(x, x, diag=True)
    near = {"rtol": 0.0, "atol": tolerances.PRODUCT_DISTANCE}
    torch.testing.assert_close(cross, double, **near)
    torch.testing.assert_close(diagonal, double_diagonal, **near)
    torch.testing.assert_close(diagonal, K.diagonal(), **near)
    torch.testing.assert_close(paired, cross[:4].diagonal(), **near)
    torch.testing.assert_close(moved, cross.expand_as(moved), **near)
    eigenvalues = torch.linalg.eigvalsh(0.5 * (K + K.mT))
    assert eigenvalues[0] > -tolerances.PSD * eigenvalues[-1]
    torch.testing.assert_close(K, K.mT, **near)
    if normalize and text not in VANISHING:
        torch.testing.assert_close(diagonal, torch.ones_like(diagonal), **near)


def averages(kernel):
    return [m for m in kernel.modules() if isinstance(m, ViewSumKernel)]


@pytest.mark.oracle
@pytest.mark.parametrize("normalize", [True, False], ids=["normalised", "bare"])
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("base", LOOPED)
@pytest.mark.parametrize("group", [GROUPS[0], GROUPS[5], GROUPS[6]], ids=repr)
def test_against_a_loop_over_pairs_of_elements(base, group, tied, normalize):
    structure = Invariant(parse(base), group, tied=tied, normalize=normalize)
    kernel = correlation(structure)
    # The base by itself has the same hyperparameters in the same order.
    ties = group.orbits(DIM) if tied else None
    plain = randomise(parse(base).correlation(KernelSpace(DIM, ties=ties)))
    terms = []
    for indices, constant in LOOPED[base]:
        parts = [plain.kernels[i] for i in indices] if indices else [plain]
        total = group_actions.added([group_actions.at_points(p) for p in parts])
        mean = group_actions.mean_over_group(total, group.elements(DIM))
        if normalize and constant:
            mean = group_actions.correlation(mean)
            if len(LOOPED[base]) > 1:
                mean = group_actions.scaled(mean, parts[0].outputscale.item())
        terms.append(mean)
    x, y = points(2, DIM), points(2, DIM, seed=1)
    expected = covariances.matrix(group_actions.added(terms), x, y)
    with torch.no_grad():
        result = kernel.forward(x, y)
    torch.testing.assert_close(result, expected, rtol=0.0, atol=tolerances.SUMS)


@pytest.mark.oracle
@pytest.mark.parametrize("normalize", [True, False], ids=["normalised", "bare"])
def test_a_symmetric_trend_is_one_of_the_mean_of_the_columns(normalize):
    """Rank one, in which a normalised average would leave but a sign."""
    group = permutations(3, [0, 1, 2])
    structure = Invariant(parse("Linear()"), group, normalize=normalize)
    kernel = structure.correlation(KernelSpace(DIM))
    kernel.base_kernel.initialize_hyperparameter("offset", 0.3)
    x, y = points(5, DIM), points(4, DIM, seed=1)
    a, b = x.mean(-1) - 0.3, y.mean(-1) - 0.3
    expected = DIM * a[:, None] * b[None, :]
    torch.testing.assert_close(kernel.forward(x, y), expected)
    # The evidence of a trend: that of a Bayesian regression on the mean alone.
    K = kernel.forward(x, x) + 0.01 * torch.eye(5)
    target = 2.0 * x.sum(-1) - 1.8
    normal = torch.distributions.MultivariateNormal
    found = normal(torch.zeros(5).double(), K).log_prob(target)
    covariance = DIM * torch.outer(a, a) + 0.01 * torch.eye(5)
    wanted = normal(torch.zeros(5).double(), covariance).log_prob(target)
    assert found.item() == pytest.approx(wanted.item(), abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "Invariant(Linear(), reflections(0, 1, 2))",
        "Invariant(Linear() + RBF(), reflections(0, 1, 2))",
        "Invariant(Linear() * RBF(), reflections(0, 1, 2))",
        "Invariant(Linear(), permutations(3, columns=[0, 1, 2]))",
    ],
)
def test_an_average_that_vanishes_gives_no_nan(text):
    """Reflections leave of a trend (1/2 − c)², zero where the offset starts."""
    kernel = parse(text).kernel(KernelSpace(DIM))
    x = points(5, DIM)
    x[0] = 0.5
    x.requires_grad_(True)
    value = kernel.forward(x, x)
    assert torch.isfinite(value).all()
    if text == "Invariant(Linear(), reflections(0, 1, 2))":
        assert not value.any()
    gradients = torch.autograd.grad(value.sum(), [x, *kernel.parameters()])
    assert all(torch.isfinite(g).all() for g in gradients)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RBF() + Matern(1.5)", 1),
        ("Invariant(RBF(), permutations(3, columns=[0, 1, 2]))", 6),
        ("Invariant(RBF(), permutations(3, columns=[0, 1, 2]), tied=False)", 36),
        ("Kumaraswamy(Invariant(RBF(), swap(0, 1))) * RBF() + Linear()", 2),
        ("Invariant(Linear() + RBF(), reflections(0))", 4),
        ("Invariant(Invariant(RBF(), swap(0, 1)), cyclic(3, columns=[0,1,2]))", 18),
    ],
)
def test_evaluations_are_the_entries_of_the_largest_matrix(text, expected):
    kernel = parse(text).kernel(KernelSpace(DIM))
    assert kernel.evaluations == expected
    sizes = []
    for module in kernel.modules():
        if isinstance(module, StructureKernel):
            module.forward = _measured(module.forward, sizes)
    x, y = points(5, DIM), points(7, DIM, seed=1)
    kernel.forward(x, y)
    assert max(sizes) == 35 * expected


def _measured(forward, sizes):
    def measured(x1, x2, diag=False, **params):
        result = forward(x1, x2, diag=diag, **params)
        if not diag:
            sizes.append(result.numel())
        return result

    return measured


@pytest.mark.property
@settings(max_examples=30)
@given(
    strategies.structures(DIM, averages=False),
    strategies.groups(DIM),
    st.integers(0, 9),
)
def test_any_invariant_structure_is_invariant(base, group, seed):
    kernel = correlation(Invariant(base, group).canonical(), seed)
    x, y = points(3, DIM, seed=seed), points(3, DIM, seed=seed + 1)
    with torch.no_grad():
        expected = kernel.forward(x, y)
        moved = kernel.forward(Orbit(group, DIM)(x), y)
    torch.testing.assert_close(
        moved,
        expected.expand_as(moved),
        rtol=0.0,
        atol=tolerances.PRODUCT_DISTANCE,
    )


FORCED = {
    "untied lengthscales": Invariant(parse("RBF()"), GROUPS[0], tied=False),
    "untied periods": Invariant(parse("Periodic()"), swap(0, 1), tied=False),
    "untied deep": Invariant(parse("DeepSE()"), cyclic(3, [0, 1, 2]), tied=False),
    "reflected trend": Invariant(parse("Linear()"), reflections(0)),
    "untied warp": Invariant(parse("Kumaraswamy(RBF())"), swap(0, 1), tied=False),
    "reflected warp": Invariant(parse("Kumaraswamy(RBF())"), reflections(0)),
    "one column warped": Invariant(
        parse("Kumaraswamy(RBF(), columns=[0])"), swap(0, 1)
    ),
    "one column read": Invariant(parse("RBF(columns=[0])"), swap(0, 1)),
}


@pytest.mark.parametrize("structure", FORCED.values(), ids=FORCED)
def test_a_single_sum_forced_where_it_must_not_be_is_wrong(structure):
    assert not structure.uses_single_sum
    kernel = correlation(structure)
    assert not kernel.single_sum
    x, y = points(5, DIM), points(4, DIM, seed=1)
    with torch.no_grad():
        right = kernel.forward(x, y)
        kernel.single_sum = True
        wrong = kernel.forward(x, y)
    assert (right - wrong).abs().max() > 1e-2


def test_the_bare_mean_varies_between_one_over_p_and_one():
    group = permutations(3, [0, 1, 2])
    kernel = Invariant(parse("RBF()"), group, normalize=False).correlation(
        KernelSpace(DIM)
    )
    kernel.lengthscale = 0.01
    fixed = torch.full((1, DIM), 0.4, dtype=torch.float64)
    half = torch.tensor([[0.4, 0.4, 0.9]]).double()
    generic = torch.tensor([[0.1, 0.5, 0.9]]).double()
    variances = [kernel.forward(x, x, diag=True).item() for x in (fixed, half, generic)]
    assert variances == pytest.approx([1.0, 1 / 3, 1 / 6], abs=1e-9)


class Counting(RBFKernel):
    """Counts evaluations of a pair of points."""

    pairs = 0

    def forward(self, x1, x2, diag=False, **params):
        result = super().forward(x1, x2, diag=diag)
        self.pairs += result.numel()
        return result


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(("single", "power"), [(True, 1), (False, 2)])
def test_the_diagonal_costs_the_group_and_not_the_square_of_the_data(
    single, power, normalize
):
    n, order = 50, 6
    kernel = ViewSumKernel(
        Counting(every(DIM)),
        Orbit(permutations(3, [0, 1, 2]), DIM),
        single_sum=single,
        normalize=normalize,
    )
    x = points(n, DIM)
    kernel.forward(x, x, diag=True)
    assert kernel.base_kernel.pairs == n * order**power
    kernel.base_kernel.pairs = 0
    kernel.forward(x, x)
    assert kernel.base_kernel.pairs == n * n * order**power
    kernel.base_kernel.pairs = 0
    kernel.forward(x, x.clone())
    extra = 2 * n * order**power if normalize else 0
    assert kernel.base_kernel.pairs == n * n * order**power + extra


def test_one_view_is_the_base():
    base = randomise(RBFKernel(every(DIM)))
    kernel = ViewSumKernel(base, Identity(), single_sum=True)
    x, y = points(5, DIM), points(4, DIM, seed=1)
    assert torch.allclose(kernel.forward(x, y), base.forward(x, y), atol=1e-15)


def test_without_symmetry_keeps_hyperparameters_and_drops_the_sum():
    structure = parse("Invariant(RBF(), swap(0, 1)) + Linear()")
    kernel = randomise(structure.kernel(KernelSpace(DIM)))
    plain = without_symmetry(kernel)
    x, y = points(5, DIM), points(4, DIM, seed=1)
    scale = kernel.kernels[0].outputscale
    base = kernel.kernels[0].base_kernel.base_kernel
    expected = scale * base.forward(x, y) + kernel.kernels[1].forward(x, y)
    torch.testing.assert_close(plain.forward(x, y), expected)
    images = Orbit(swap(0, 1), DIM)(x)
    broken = plain.forward(images[1], y) - plain.forward(images[0], y)
    kept = kernel.kernels[0].forward(images[1], y) - kernel.kernels[0].forward(x, y)
    assert broken.abs().max() > 1e-2
    assert kept.abs().max() < tolerances.SUMS


def test_points_of_one_orbit_are_one_point():
    """The covariance is singular: f takes one value on an orbit."""
    kernel = correlation(Invariant(parse("Matern(2.5)"), permutations(3, [0, 1, 2])))
    orbit = kernel.views(points(1, DIM)).squeeze(-2)
    K = kernel.forward(orbit, orbit)
    torch.testing.assert_close(K, torch.ones_like(K), rtol=0.0, atol=1e-10)
