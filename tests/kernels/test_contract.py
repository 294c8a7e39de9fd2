"""The common rules of kernels, over every class and example."""

from __future__ import annotations

import io
import itertools
import pickle
from copy import deepcopy

import pytest
import torch
from torch.func import functional_call

from bokern.numerics import DIRECT_DISTANCE_DIM
from tests import tolerances
from tests.kernels.examples import (
    BUILDERS,
    EXAMPLES,
    concrete_classes,
    points,
    randomise,
)

pytestmark = pytest.mark.contract

BATCHES = [(), (2,), (3, 2)]
DIMS = [1, 2, 5]


def test_every_class_has_an_example():
    assert concrete_classes() == set(EXAMPLES)


@pytest.fixture(params=BUILDERS.values(), ids=BUILDERS)
def build(request):
    return request.param


@pytest.fixture(params=DIMS, ids=lambda d: f"d={d}")
def dim(request):
    return request.param


@pytest.fixture(params=BATCHES, ids=str)
def batch(request):
    return request.param


def close(a, b, tolerance=tolerances.PRODUCT_DISTANCE):
    torch.testing.assert_close(a, b, rtol=0.0, atol=tolerance)


class Dense(torch.nn.Module):
    """Calls ``forward``; a kernel's own call gives a lazy covariance."""

    def __init__(self, kernel):
        super().__init__()
        self.kernel = kernel

    def forward(self, x1, x2, diag):
        return self.kernel.forward(x1, x2, diag=diag)


def on_raw(kernel, x1, x2, diag=False):
    """The kernel as a function of its raw hyperparameters, and those."""
    roof = Dense(kernel)
    names = [name for name, _ in roof.named_parameters()]
    values = [p.detach().clone() for p in kernel.parameters()]

    def function(*raw):
        named = dict(zip(names, raw, strict=True))
        return functional_call(roof, named, (x1, x2, diag), tie_weights=False)

    return function, values


def test_covariance(build, dim, batch):
    """Shape, symmetry, positive eigenvalues, diagonal, and x1 ≠ x2."""
    kernel = randomise(build(dim, batch))
    assert kernel.batch_shape == batch
    x, y = points(*batch, 6, dim), points(*batch, 4, dim, seed=1)
    with torch.no_grad():
        K = kernel.forward(x, x)
        cross = kernel.forward(x, y)
        diagonal = kernel.forward(x, x, diag=True)
        pairs = kernel.forward(x[..., :4, :], y, diag=True)
    assert K.shape == (*batch, 6, 6)
    assert cross.shape == (*batch, 6, 4)
    assert diagonal.shape == (*batch, 6)
    close(K, K.mT)
    exact = dim <= DIRECT_DISTANCE_DIM
    slack = 0.0 if exact else tolerances.PRODUCT_DISTANCE
    eigenvalues = torch.linalg.eigvalsh(K + slack * torch.eye(6))
    assert (eigenvalues > -tolerances.PSD * eigenvalues[..., -1:]).all()
    close(diagonal, K.diagonal(dim1=-2, dim2=-1))
    close(pairs, cross[..., :4, :].diagonal(dim1=-2, dim2=-1), tolerances.ROUNDING)
    both = kernel.forward(torch.cat([x, y], -2), torch.cat([x, y], -2))
    close(both[..., :6, 6:], cross)


def test_an_unbatched_input_meets_batched_hyperparameters(build, batch):
    kernel = randomise(build(2, batch))
    x = points(4, 2)
    expected = kernel.forward(x.expand(*batch, 4, 2), x.expand(*batch, 4, 2))
    close(kernel.forward(x, x), expected, tolerances.ROUNDING)
    close(
        kernel.forward(x, x, diag=True),
        expected.diagonal(dim1=-2, dim2=-1),
        tolerances.ROUNDING,
    )


INDICES = [
    (0,),
    (slice(1, 3),),
    (1, 0),
    (slice(None), 1),
    (..., 1),
    (..., slice(0, 1)),
    (0, ...),
    (Ellipsis,),
    (torch.tensor([2, 0]), torch.tensor([1, 1])),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_an_element_of_the_batch(build, index):
    kernel = randomise(build(2, (3, 2)))
    before = [p.detach().clone() for p in kernel.parameters()]
    x = points(4, 2)
    part = kernel[index if len(index) > 1 else index[0]]
    expected = kernel.forward(x, x)[(*index, slice(None), slice(None))]
    assert part.batch_shape == expected.shape[:-2]
    close(part.forward(x, x), expected, tolerances.ROUNDING)
    for parameter, value in zip(kernel.parameters(), before, strict=True):
        assert torch.equal(parameter, value), "the original is left as it was"


def test_batch_indexing_through_lazy_covariances(build):
    kernel = randomise(build(2, (3, 2)))
    x = points(3, 2, 5, 2)
    with torch.no_grad():
        dense = kernel.forward(x, x)
        close(kernel(x).to_dense(), dense)
        close(kernel(x)[1].to_dense(), dense[1])
        close(kernel(x)[:, 1, :3, 2:].to_dense(), dense[:, 1, :3, 2:])
        close(kernel(x).diagonal(dim1=-2, dim2=-1), dense.diagonal(dim1=-2, dim2=-1))


@pytest.mark.parametrize("call", ["sizes", "shape"])
def test_expand_batch(build, call):
    kernel = randomise(build(2, (2,)))
    x = points(4, 2)
    larger = (
        kernel.expand_batch(3, 2) if call == "sizes" else kernel.expand_batch((3, 2))
    )
    assert larger.batch_shape == (3, 2)
    assert all(p.shape[:2] == (3, 2) for p in larger.parameters())
    close(larger.forward(x, x), kernel.forward(x, x).expand(3, 2, 4, 4))
    assert kernel.expand_batch(2) is kernel
    randomise(larger, seed=1)
    values = larger.forward(x, x)
    assert not torch.equal(values[0], values[1]), "no memory is shared"


def test_hyperparameters_broadcast_like_a_loop(build, batch):
    kernel = build(2, batch)
    x = points(*batch, 4, 2)
    for diag in (False, True):
        function, values = on_raw(kernel, x, x, diag)
        generator = torch.Generator().manual_seed(3)
        many = [v + 0.5 * torch.randn(4, *v.shape, generator=generator) for v in values]
        looped = [function(*one) for one in zip(*many, strict=True)]
        close(function(*many), torch.stack(looped), tolerances.ROUNDING)


def test_float32(build, dim):
    kernel = randomise(build(dim, ()))
    x, y = points(5, dim), points(4, dim, seed=1)
    expected = kernel.forward(x, y)
    single = kernel.float()
    result = single.forward(x.float(), y.float())
    assert result.dtype == torch.float32
    assert single.forward(x.float(), x.float(), diag=True).dtype == torch.float32
    close(result.double(), expected, tolerances.FLOAT32)


def test_device_follows_the_inputs(build, device):
    kernel = randomise(build(2, (2,)))
    x, y = points(5, 2), points(4, 2, seed=1)
    expected = kernel.forward(x, y)
    moved = kernel.to(device)
    x, y = x.to(device), y.to(device)
    with torch.device("meta"):
        result = moved.forward(x, y)
        diagonal = moved.forward(x, x, diag=True)
    assert result.device.type == diagonal.device.type == device.type
    close(result.cpu(), expected, tolerances.SUMS)


@pytest.mark.cuda
def test_float32_on_a_gpu(build, device):
    kernel = randomise(build(2, (2,)))
    x, y = points(5, 2), points(4, 2, seed=1)
    expected = kernel.forward(x, y)
    result = (
        kernel.float().to(device).forward(x.float().to(device), y.float().to(device))
    )
    assert result.dtype == torch.float32
    close(result.double().cpu(), expected, tolerances.FLOAT32)


def test_copies(build):
    """deepcopy after a gradient, pickle, and the state of a fresh kernel."""
    kernel = randomise(build(2, (2,)))
    x = points(4, 2)
    value = kernel.forward(x, x)
    value.sum().backward()
    copies = [deepcopy(kernel), pickle.loads(pickle.dumps(kernel))]
    buffer = io.BytesIO()
    torch.save(kernel.state_dict(), buffer)
    buffer.seek(0)
    fresh = build(2, (2,))
    fresh.load_state_dict(torch.load(buffer, weights_only=True))
    for copy in (*copies, fresh):
        assert torch.equal(copy.forward(x, x), value)
        for prior in ((p[2].loc, p[2].scale) for p in copy.named_priors()):
            assert all(torch.isfinite(term) for term in prior)


def test_every_hyperparameter_has_a_prior_and_can_be_set(build):
    kernel = build(2, (2,))
    priors = list(kernel.named_priors())
    assert len(priors) == len(list(kernel.parameters()))
    for _, module, prior, read, write in priors:
        value = prior.sample(read(module).shape)
        write(module, value)
        close(read(module), value, tolerances.ROUNDING)


@pytest.mark.parametrize("dim", DIMS)
def test_gradients_are_finite_at_coincident_points(build, dim):
    kernel = randomise(build(dim, ()))
    x = points(3, dim)[[0, 0, 1, 2]]
    x[2] = 0.0
    x[3] = 1.0
    x.requires_grad_(True)
    function, raw = on_raw(kernel, x, x)
    raw = [r.requires_grad_(True) for r in raw]
    value = function(*raw)
    grads = torch.autograd.grad(value.sum(), [x, *raw], create_graph=True)
    assert all(torch.isfinite(g).all() for g in grads)
    total = sum(g.square().sum() for g in grads[1:])
    second = torch.autograd.grad(total, raw, allow_unused=True)
    assert all(s is None or torch.isfinite(s).all() for s in second)


@pytest.mark.parametrize("diag", [False, True], ids=["full", "diag"])
def test_first_and_second_derivatives(build, diag):
    """In hyperparameters with coincident points among the inputs, and in inputs."""
    kernel = randomise(build(2, ()))
    x = points(3, 2)[[0, 0, 1]]
    function, raw = on_raw(kernel, x, x, diag)
    raw = [r.requires_grad_(True) for r in raw]
    assert torch.autograd.gradcheck(function, raw)
    assert torch.autograd.gradgradcheck(function, raw, atol=1e-4)
    y = points(3, 2, seed=5).requires_grad_(True)
    assert torch.autograd.gradcheck(lambda z: kernel.forward(z, x, diag=diag), y)


def test_stationarity_is_as_declared(build):
    kernel = randomise(build(2, ()))
    x, y = 0.5 * points(6, 2), 0.5 * points(6, 2, seed=1)
    shift = torch.tensor([0.3, 0.1], dtype=torch.float64)
    moved = kernel.forward(x + shift, y + shift)
    change = (moved - kernel.forward(x, y)).abs().max()
    if kernel.is_stationary:
        assert change < tolerances.SUMS
    else:
        assert change > 1e-3


def test_lengthscales_can_be_read_and_set(build):
    kernel = build(2, ())
    if kernel.lengthscale is None:
        return
    kernel.lengthscale = 0.25
    assert (kernel.lengthscale - 0.25).abs().max() < tolerances.ROUNDING


@pytest.mark.parametrize("name", [k for k in BUILDERS if k.endswith("[first]")])
def test_columns_that_are_not_read_do_not_matter(name):
    kernel = randomise(BUILDERS[name](3, ()))
    x, y = points(4, 3), points(4, 3, seed=1)
    other = torch.cat([x[:, :1], points(4, 2, seed=2)], -1)
    same = torch.equal(kernel.forward(x, y), kernel.forward(other, y))
    assert same is not name.startswith("Kumaraswamy")


def test_batches_differ(build):
    """The contract's random hyperparameters do move each kernel."""
    kernel = randomise(build(2, (3, 2)))
    x, y = points(4, 2), points(4, 2, seed=1)
    values = kernel.forward(x, y).flatten(0, 1)
    for a, b in itertools.combinations(values, 2):
        assert (a - b).abs().max() > 1e-4
