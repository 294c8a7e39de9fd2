"""Where hyperparameters stand, and what a fit of one structure gives another."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bokern.build import transferred_start, unfitted
from bokern.errors import GroupError
from bokern.inputs import read_observations
from bokern.structures import KernelSpace, parse
from bokern.structures.composite import ABSENT
from bokern.structures.correspondence import LogScale, Transfer
from bokern.structures.grammar import Grammar
from bokern.structures.places import places
from bokern.structures.transfer import transfer
from tests import strategies
from tests.kernels.examples import points, randomise

NAMES = [f"x{c}" for c in range(3)]
GRAMMAR = Grammar(3, ((0, 1, 2),))
IDENTITY = 2e-5
"""A factor's long lengthscale leaves 4e-8 a column, a warp moves points by 1e-7, both
where the kernel may be steep; of values of a few tens."""


def is_buildable(structure):
    """Whether its averages are small enough."""
    try:
        structure.kernel(KernelSpace(3))
    except GroupError:
        return False
    return True


resolved = strategies.structures(3).map(lambda s: s.resolve(NAMES)).filter(is_buildable)


@pytest.fixture(scope="module")
def data():
    X = points(14, 3)
    y = torch.sin(5.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * points(14, seed=1)
    return read_observations(X, y, [(0.0, 1.0)] * 3)


# -- where parts stand --------------------------------------------------------------


def every_node(node):
    yield node
    for part in node.parts:
        yield from every_node(part)


@pytest.mark.property
@given(resolved, st.booleans())
def test_the_layout_names_every_hyperparameter_once(structure, scaled):
    space = KernelSpace(3)
    kernel = structure.kernel(space) if scaled else structure.correlation(space)
    nodes = list(every_node(places(structure, scaled=scaled)))
    scales = [node.scale for node in nodes if node.scale is not None]
    paths = [node.path for node in nodes]
    assert len(set(scales)) == len(scales)
    assert len(set(paths)) == len(paths)
    names = {name for name, _ in kernel.named_parameters()}
    own = {n for n in names if not n.endswith("raw_outputscale")}
    assert names - own == set(scales)
    assert {n[: n.rindex("raw_")] for n in own} <= set(paths)


@pytest.mark.property
@given(resolved, st.floats(-2.0, 2.0))
def test_a_part_is_multiplied_by_its_scales(structure, change):
    kernel = randomise(structure.kernel(KernelSpace(3)))
    x = points(5, 3)
    before = kernel.forward(x, x)
    for name in places(structure).scales:
        with torch.no_grad():
            kernel.get_parameter(name).add_(change)
    expected = before * torch.tensor(change, dtype=torch.float64).exp()
    torch.testing.assert_close(kernel.forward(x, x), expected, rtol=1e-9, atol=1e-9)


def test_log_scales_add_up():
    a, b = LogScale.of("a"), LogScale.of("b")
    assert a + b - a == b
    assert (a + b) - (a + b) == LogScale()
    assert a + 2.0 - (b + 0.5) == LogScale((("a", 1), ("b", -1)), 1.5)
    assert a + a == LogScale((("a", 2),))
    assert LogScale.of(None) == LogScale()


# -- what is kept -------------------------------------------------------------------


def started(child, parent, data, seed=0):
    """Both models, θ of both and what is carried, the parent at random values."""
    small, large = unfitted(parent, data), unfitted(child, data)
    objective = small.log_posterior()
    generator = torch.Generator().manual_seed(seed)
    step = torch.randn(objective.dim, generator=generator, dtype=torch.float64)
    objective.set(objective.get() + 0.4 * step)
    theta, carried = transferred_start(large, small)
    return small, large, theta, carried


def covariances(model, theta):
    """Mean, covariance and noise, with what is nearly absent pushed to nothing."""
    theta = torch.where(theta == ABSENT, -200.0, theta)
    with torch.no_grad():
        return model.log_posterior().moments(theta)


EXACT = [
    ("RBF()", "Kumaraswamy(RBF())"),
    ("RBF()", "ConditionalDeep()"),
    ("RBF(columns=[1])", "ConditionalDeep(RBF(columns=[1]), form='network')"),
    (
        "Linear() + RationalQuadratic()",
        "Linear() + ConditionalDeep(exposed='rational-quadratic', form='free')",
    ),
    ("RBF()", "RBF() + Periodic(columns=[1])"),
    ("RBF()", "Kumaraswamy(RBF() + Linear(), columns=[2])"),
    ("RBF()", "RBF() * Periodic(columns=[0])"),
    ("RBF() + Linear()", "Linear() + RBF() * Periodic(columns=[0])"),
    ("RBF() + Linear()", "(Linear() + RBF()) * Periodic(columns=[0])"),
    ("RBF() + Linear()", "(Linear() + Matern(1.5) + RBF()) * Matern(2.5)"),
    ("Linear() * RBF()", "Linear() * Periodic(columns=[1]) * RBF() + Matern(0.5)"),
    (
        "(Linear() + RBF()) * Periodic(columns=[0])",
        "(Linear() + RBF() + RBF(columns=[1])) * Periodic(columns=[0])",
    ),
    (
        "ChangePoint(RBF(), Linear(), columns=[1])",
        "DeepSE() + ChangePoint(RBF(), Linear(), columns=[1])",
    ),
    (
        "ChangePoint(RBF(), Linear(), columns=[1])",
        "ChangePoint(RBF() + Linear(), Linear() * RBF(), columns=[1])",
    ),
    (
        "ChangePoint(RBF(), Linear())",
        "ChangePoint(RBF(), Linear()) * Periodic(columns=[1])",
    ),
    ("Invariant(RBF(), permutations(3))", "Invariant(RBF(), permutations(3)) + RBF()"),
    ("RBF()", "Invariant(RBF(), permutations(3)) + RBF()"),
    ("Invariant(RBF(), cyclic(3))", "Invariant(Kumaraswamy(RBF()), cyclic(3))"),
    ("Invariant(RBF(), cyclic(3))", "Invariant(RBF() * Matern(1.5), cyclic(3))"),
    (
        "Invariant(Linear() + RBF(), cyclic(3))",
        "Invariant(Linear() + Matern(1.5) + RBF(), cyclic(3))",
    ),
    (
        "Invariant(Linear() + RBF(), cyclic(3))",
        "DeepSE() + Invariant(Linear() + RBF(), cyclic(3))",
    ),
    ("RBF() + RBF()", "RBF() + RBF() + Matern(0.5)"),
    ("Matern(0.5)", "Matern(0.5) * Matern(2.5)"),
]


@pytest.mark.parametrize(("parent", "child"), EXACT)
def test_an_exact_transfer_keeps_mean_covariance_and_noise(data, parent, child):
    small, large, theta, _ = started(child, parent, data)
    assert transfer(large.structure, small.structure).exact
    expected = covariances(small, small.log_posterior().get())
    for ours, theirs in zip(covariances(large, theta), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0.0, atol=IDENTITY)


@pytest.mark.parametrize(("parent", "child"), EXACT)
def test_and_the_log_likelihood_of_a_fit(data, parent, child):
    """To .03 nat at 14 points: e^-10 of a new variance is left of it."""
    small = unfitted(parent, data, starts=1).fit()
    large = unfitted(child, data)
    theta, _ = transferred_start(large, small)
    value = large.log_posterior().log_likelihood(theta).item()
    assert value == pytest.approx(small.fit_result.log_likelihood, abs=0.03)


@st.composite
def steps(draw):
    """A parent that the grammar reaches in up to three steps, and a proposal."""
    structure = draw(st.sampled_from(GRAMMAR.initial()))
    for _ in range(draw(st.integers(0, 2))):
        structure = draw(st.sampled_from(GRAMMAR.expand(structure))).structure
    return draw(st.sampled_from(GRAMMAR.expand(structure)))


@pytest.mark.property
@settings(deadline=None, max_examples=60)
@given(steps(), st.integers(0, 9))
def test_a_step_of_the_grammar_that_claims_to_be_exact_is(data, step, seed):
    small, large, theta, carried = started(step.structure, step.parent, data, seed)
    objective = large.log_posterior()
    assert theta.shape == carried.shape == (objective.dim,)
    assert torch.isfinite(objective(theta))
    if transfer(step.structure, step.parent).exact:
        expected = covariances(small, small.log_posterior().get())
        scale = max(1.0, expected[1].abs().max().item())
        for ours, theirs in zip(covariances(large, theta), expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0.0, atol=IDENTITY * scale)


def test_steps_that_only_add_are_exact():
    for move in GRAMMAR.expand(parse("Linear() + RBF()")):
        if move.move.startswith(("add ", "warp the input")):
            assert transfer(move.structure, move.parent).exact, move


A, B = "kernels.0", "kernels.1"
FACTOR, LEAF = "base_kernel.kernels.0", "base_kernel.raw"
WARP = {"raw_concentration_a", "raw_concentration_b"}
CHANGE = {"raw_location_score", "raw_width"}
TERM = {"raw_outputscale", "base_kernel.raw_lengthscale"}
NEW = [
    ("RBF()", "RBF()", set()),
    ("RBF()", "Matern(0.5)", set()),
    ("RBF()", "RationalQuadratic()", {f"{LEAF}_alpha"}),
    ("RBF()", "Kumaraswamy(RBF())", WARP),
    ("RBF()", "RBF() + RBF()", {f"{B}.{name}" for name in TERM}),
    (
        "RBF()",
        "Linear() + RBF()",
        {f"{A}.raw_outputscale", f"{A}.{LEAF}_offset"},
    ),
    ("RBF()", "RBF() * Matern(1.5)", {f"{FACTOR}.raw_lengthscale"}),
    (
        "RBF()",
        "RBF() * Periodic()",
        {f"{FACTOR}.raw_lengthscale", f"{FACTOR}.raw_period"},
    ),
    # A scale says nothing of a kernel whose variance is another.
    ("RBF()", "Linear() * RBF()", {f"{FACTOR}.raw_offset", "raw_outputscale"}),
    ("Linear() * RBF()", "RBF()", {"raw_outputscale"}),
    ("RBF()", "Linear()", {f"{LEAF}_offset", "raw_outputscale"}),
    (
        "Linear() * RBF()",
        "Periodic() * RBF()",
        {f"{FACTOR}.raw_lengthscale", f"{FACTOR}.raw_period", "raw_outputscale"},
    ),
    (
        "Matern(1.5) + RBF()",
        "Periodic() + RBF()",
        {f"{A}.{LEAF}_lengthscale", f"{A}.{LEAF}_period"},
    ),
    ("RBF()", "ChangePoint(RBF(), RBF())", CHANGE),
    (
        "RBF()",
        "ChangePoint(RBF(), Linear())",
        CHANGE | {"kernels.after.raw_outputscale", f"kernels.after.{LEAF}_offset"},
    ),
    ("RBF()", "Invariant(RBF(), permutations(3))", set()),
    (
        "Invariant(RBF(), cyclic(3))",
        "Invariant(RBF(), cyclic(3)) + RBF()",
        {f"{B}.{name}" for name in TERM},
    ),
    ("Kumaraswamy(RBF(), columns=[0])", "Kumaraswamy(RBF(), columns=[1])", WARP),
]


@pytest.mark.parametrize(("parent", "child", "new"), NEW)
def test_what_is_new_is_not_carried(data, parent, child, new):
    _, large, _, carried = started(child, parent, data)
    found = {
        c.name.removeprefix("covar_module.")
        for c in large.log_posterior().coordinates
        if not carried[c.span].any()
    }
    assert found == new


# -- columns ------------------------------------------------------------------------


def lengthscales(parent, child, data, values, at="base_kernel."):
    """Log lengthscales of the child, from these of the parent, and what is carried."""
    small, large = unfitted(parent, data), unfitted(child, data)
    with torch.no_grad():
        for name, parameter in small.covar_module.named_parameters():
            if name.endswith("raw_lengthscale"):
                parameter.copy_(torch.tensor([values]).double())
    theta, carried = transferred_start(large, small)
    name = f"covar_module.{at}raw_lengthscale"
    spans = {c.name: c.span for c in large.log_posterior().coordinates}
    return theta[spans[name]].tolist(), carried[spans[name]].tolist()


def test_columns_that_are_tied_start_from_the_mean_of_theirs(data):
    inner = "base_kernel.base_kernel."
    to = "Invariant(RBF(), swap(0, 2))"
    values, carried = lengthscales("RBF()", to, data, [0.4, -1.0, 0.8], inner)
    assert values == pytest.approx([0.6, -1.0])
    assert carried == [True, True]


def test_columns_that_are_untied_start_from_what_they_shared(data):
    full, some = "Invariant(RBF(), permutations(3))", "Invariant(RBF(), swap(1, 2))"
    inner = "base_kernel.base_kernel."
    values, carried = lengthscales(full, some, data, [0.7], inner)
    assert values == pytest.approx([0.7, 0.7])
    assert carried == [True, True]
    values, carried = lengthscales(
        full, f"{full} + RBF()", data, [0.7], f"{B}.base_kernel."
    )
    assert values == pytest.approx([0.7, 0.7, 0.7])
    assert carried == [False, False, False], "a guess"


def test_columns_that_are_new_stay_where_the_model_is(data):
    one, two = "RBF(columns=[2])", "RBF(columns=[0, 2])"
    values, carried = lengthscales(one, two, data, [0.7])
    assert values == pytest.approx(
        [unfitted(two, data).covar_module.lengthscale.log()[0, 0].item(), 0.7]
    )
    assert carried == [False, True]
    values, carried = lengthscales("RBF()", one, data, [0.1, 0.2, 0.3])
    assert values == pytest.approx([0.3])
    assert carried == [True]


def test_mean_and_noise_are_carried(data):
    small, large, theta, carried = started("RBF() + Linear()", "Matern(0.5)", data)
    here, there = large.log_posterior(), small.log_posterior()
    values = {c.name: there.get()[c.span] for c in there.coordinates}
    for c in here.coordinates:
        if not c.name.startswith("covar_module"):
            assert torch.equal(theta[c.span], values[c.name])
            assert carried[c.span].all()


def test_a_known_noise_and_no_mean_have_nothing_to_carry():
    X = points(9, 1)
    data = read_observations(X, X[:, 0].sin(), [(0.0, 1.0)], 0.01)
    small = unfitted("RBF()", data, mean="zero")
    large = unfitted("Kumaraswamy(RBF())", data)
    theta, carried = transferred_start(large, small)
    names = [c.name for c in large.log_posterior().coordinates if not carried[c.span]]
    assert names == [
        "mean_module.raw_constant",
        "covar_module.raw_concentration_a",
        "covar_module.raw_concentration_b",
    ]
    assert torch.isfinite(theta).all()


@pytest.mark.property
@settings(deadline=None)
@given(resolved, resolved)
def test_any_two_structures_have_a_transfer(child, parent):
    kept = transfer(child, parent)
    known = {n for n, _ in parent.kernel(KernelSpace(3)).named_parameters()}
    own = {n for n, _ in child.kernel(KernelSpace(3)).named_parameters()}
    assert set(kept.scales) <= own
    assert set(kept.identity) <= own
    assert not set(kept.identity) & set(kept.scales)
    for scale in kept.scales.values():
        assert {name for name, _ in scale.terms} <= known
    for here, there in kept.names.items():
        assert any(name.startswith(here) for name in own)
        assert any(name.startswith(there) for name in known)


@pytest.mark.property
@given(resolved)
def test_a_structure_keeps_all_of_itself(structure):
    kept = transfer(structure, structure)
    assert kept.exact
    for name, _ in structure.kernel(KernelSpace(3)).named_parameters():
        if name.endswith("raw_outputscale"):
            assert kept.scales[name] == LogScale.of(name)
        else:
            assert kept.source(name) == name
        assert not kept.is_new(name)


def test_an_empty_transfer_keeps_nothing():
    assert Transfer().source("raw_outputscale") is None
    assert not Transfer().is_new("raw_outputscale")
