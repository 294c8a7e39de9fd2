"""Means over many views, summed as they come: against plain sums, with gradients."""

from __future__ import annotations

import itertools

import pytest
import torch

from bokern.kernels import radial_mean as module
from bokern.kernels.view_sum import STREAMED_ORDER
from bokern.structures import KernelSpace, parse
from bokern.views import Orbit, closure, cyclic, permutations, product, reflections
from tests.kernels.examples import points, randomise

DIM = 4
GROUPS = (
    permutations(4, [0, 1, 2, 3]),
    closure(cyclic(4, [0, 1, 2, 3]), reflections(0)),
    product(permutations(3, [0, 1, 3]), reflections(2)),
)
BASES = ("RBF()", "Matern(1.5)", "Matern(2.5)", "DeepSE(3)")
WARPED = ("Kumaraswamy(Matern(2.5))", "RationalQuadratic()", "Kumaraswamy(DeepSE())")
NEAR = {"rtol": 1e-9, "atol": 1e-10}


def view_sum(base, group, batch=(), normalize=True, seed=0):
    text = f"Invariant({base}, {group!r}, normalize={normalize})"
    kernel = parse(text).correlation(KernelSpace(DIM, batch))
    return randomise(kernel, seed)


def plain(kernel, x1, x2):
    """The mean over the images, element by element, with the graph of each."""
    base, views = kernel.base_kernel, kernel.views

    def mean(a, b):
        images = views(b)
        terms = [base.forward(a, images[..., p, :, :]) for p in range(views.order)]
        return sum(terms) / views.order

    k = mean(x1, x2)
    if not kernel.normalize:
        return k
    v1, v2 = (mean(x, x).diagonal(dim1=-2, dim2=-1) for x in (x1, x2))
    return k / (v1.unsqueeze(-1) * v2.unsqueeze(-2)).sqrt()


def cases():
    yield from itertools.product(BASES, GROUPS)
    yield from ((base, GROUPS[0]) for base in WARPED)


@pytest.fixture(params=list(cases()), ids=lambda case: f"{case[0]}-{case[1]!r}")
def case(request):
    return request.param


@pytest.fixture(params=[2**16, 40], ids=["one chunk", "many chunks"], autouse=True)
def chunks(request, monkeypatch):
    monkeypatch.setitem(module.CHUNK_ENTRIES, "cpu", request.param)


def parameters(kernel):
    return [p for p in kernel.parameters() if p.requires_grad]


@pytest.mark.oracle
@pytest.mark.parametrize("normalize", [True, False], ids=["normalised", "bare"])
@pytest.mark.parametrize("same", [True, False], ids=["same points", "others"])
@pytest.mark.parametrize("batch", [(), (3,)], ids=["single", "batch"])
def test_values_and_gradients(case, normalize, same, batch):
    kernel = view_sum(*case, batch=batch, normalize=normalize)
    assert kernel.is_streamed
    assert kernel.entries == 1
    assert kernel.evaluations == kernel.views.order >= STREAMED_ORDER
    x1 = points(6, DIM).requires_grad_()
    x2 = x1 if same else points(5, DIM, seed=1).requires_grad_()
    inputs = [*parameters(kernel), *{id(x): x for x in (x1, x2)}.values()]
    found, expected = kernel.forward(x1, x2), plain(kernel, x1, x2)
    torch.testing.assert_close(found, expected, **NEAR)
    weight = torch.randn(found.shape, generator=torch.manual_seed(0)).to(found)
    mine = torch.autograd.grad(found, inputs, weight, allow_unused=True)
    theirs = torch.autograd.grad(expected, inputs, weight, allow_unused=True)
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.oracle
def test_points_in_batches(case):
    """Candidates in batches beside observations that each of them comes with."""
    kernel = view_sum(*case)
    candidates = points(6, DIM).unflatten(0, (3, 2)).requires_grad_()
    observed = points(5, DIM, seed=1)
    repeated = observed.expand(3, 5, DIM)
    found = kernel.forward(candidates, repeated)
    single = torch.stack([plain(kernel, c, observed) for c in candidates])
    torch.testing.assert_close(found, single, **NEAR)
    joint = torch.cat([repeated, candidates], -2)
    torch.testing.assert_close(
        kernel.forward(candidates, joint)[..., :5], single, **NEAR
    )
    (mine,) = torch.autograd.grad(found.sum(), candidates)
    (theirs,) = torch.autograd.grad(single.sum(), candidates)
    torch.testing.assert_close(mine, theirs, rtol=1e-8, atol=1e-9)


@pytest.mark.oracle
def test_second_derivatives(case):
    kernel = view_sum(*case)
    x = points(4, DIM)
    theta = parameters(kernel)

    def curvature(k):
        first = torch.autograd.grad(k.square().sum(), theta, create_graph=True)
        total = sum(g.square().sum() for g in first)
        return torch.autograd.grad(total, theta)

    mine = curvature(kernel.forward(x, x))
    for a, b in zip(mine, curvature(plain(kernel, x, x)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("base", ["Matern(0.5)", "Periodic()"])
def test_a_cusp_and_kernels_of_more_than_the_distance_are_kept(base):
    kernel = view_sum(base, GROUPS[0])
    assert not kernel.is_streamed
    assert kernel.entries == kernel.evaluations


def test_one_of_each_element_and_its_inverse():
    """A permutation group of 24 has 10 elements that are their own inverses."""
    orbit = Orbit(GROUPS[0], DIM)
    assert len(orbit.one_way) == 10 + (24 - 10) // 2
    assert orbit.one_way_weights.sum().item() == pytest.approx(1.0)


def test_float32_stays_float32():
    kernel = view_sum("Matern(2.5)", GROUPS[0]).float()
    x = points(5, DIM).float()
    found = kernel.forward(x, x)
    assert found.dtype == torch.float32
    exact = kernel.double().forward(x.double(), x.double())
    torch.testing.assert_close(found.double(), exact, rtol=0.0, atol=2e-5)
