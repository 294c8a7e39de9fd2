from __future__ import annotations

import pytest
import torch

from bokern.inference import MAX_STATE, markov_column, markov_prior, state_size
from bokern.kernels import MaternKernel, StationaryKernel
from bokern.structures import KernelSpace, parse
from tests.inference.series import STRUCTURES, irregular, random_kernel, random_prior
from tests.tolerances import ROUNDING


def kernel(text: str, dim: int = 1):
    return parse(text).kernel(KernelSpace(dim))


@pytest.mark.parametrize(
    ("text", "dim", "column", "size"),
    [
        ("Matern(0.5)", 1, 0, 1),
        ("Matern(2.5, columns=[2])", 3, 2, 3),
        ("Matern(0.5) + Matern(1.5) + Matern(2.5)", 1, 0, 6),
        ("Matern(1.5) * Matern(2.5)", 1, 0, 6),
        ("Linear()", 1, 0, 1),
        ("Linear(columns=[1]) + Matern(0.5, columns=[1])", 2, 1, 2),
        ("(Linear() + Matern(0.5)) * Matern(1.5)", 1, 0, 4),
        ("Matern(2.5) + Matern(2.5) * Matern(2.5)", 1, 0, 12),
    ],
)
def test_what_has_a_state(text, dim, column, size):
    assert markov_column(kernel(text, dim)) == column
    assert state_size(kernel(text, dim)) == size
    assert random_prior(text).size == size if dim == 1 else True


@pytest.mark.parametrize(
    ("text", "dim"),
    [
        ("RBF()", 1),
        ("RationalQuadratic()", 1),
        ("Periodic()", 1),
        ("Kumaraswamy(Matern(0.5))", 1),
        ("Matern(0.5) + RBF()", 1),
        ("Matern(0.5) * Periodic()", 1),
        ("DeepSE(2)", 1),
        ("Matern(0.5)", 2),
        ("Matern(0.5, columns=[0]) + Matern(0.5, columns=[1])", 2),
        ("Invariant(Matern(0.5), swap(0, 1))", 2),
        ("Matern(1.5) + Matern(2.5) + Matern(2.5) * Matern(2.5)", 1),
    ],
)
def test_what_has_none(text, dim):
    assert markov_column(kernel(text, dim)) is None


def test_a_derived_class_is_not_taken_for_its_base():
    class Rough(MaternKernel):
        def profile(self, square, shape):
            return super().profile(square, shape).square()

    given = kernel("Matern(0.5)")
    assert isinstance(given.base_kernel, StationaryKernel)
    given.base_kernel.__class__ = Rough
    assert markov_column(given) is None
    assert MAX_STATE == 12


@pytest.mark.oracle
@pytest.mark.parametrize("batch", [(), (2,), (3, 2)])
@pytest.mark.parametrize("text", STRUCTURES)
def test_covariances_are_the_kernels(text, batch):
    dense = random_kernel(text, *batch)
    t, _ = irregular(9)
    expected = dense.forward(t.unsqueeze(-1), t.unsqueeze(-1))
    found = markov_prior(dense).covariance(t.unsqueeze(-1), t.unsqueeze(-2), 2)
    torch.testing.assert_close(found, expected, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.oracle
@pytest.mark.parametrize("text", STRUCTURES)
def test_rows_and_columns_give_the_covariances(text):
    """Of f(a) and f(b) through the state at b, and through one between."""
    prior = random_prior(text, 2)
    a, b = torch.tensor([0.1, 0.4]).double(), torch.tensor([0.35, 1.2]).double()
    zero = torch.zeros_like(a)
    expected = prior.covariance(a, b, 1)
    column = prior.backward_column(a, b - a, 1)
    row = prior.forward_row(b, zero, 1)
    torch.testing.assert_close((row * column).sum(-1), expected)
    middle = 0.3 * a + 0.7 * b
    column = prior.backward_column(a, middle - a, 1)
    row = prior.forward_row(b, b - middle, 1)
    torch.testing.assert_close((row * column).sum(-1), expected)


@pytest.mark.oracle
@pytest.mark.parametrize("text", STRUCTURES)
def test_noise_is_what_transitions_leave(text):
    prior = random_prior(text, 2)
    gap = torch.tensor([0.0, 1e-4, 0.2, 3.0]).double()
    A, Q = prior.transition(gap, 1), prior.noise(gap, 1)
    assert A.shape[-3:] == Q.shape[-3:] == (4, prior.size, prior.size)
    eye = torch.eye(prior.size, dtype=A.dtype).expand_as(A)
    torch.testing.assert_close(A @ A.mT + Q, eye, rtol=0, atol=10 * ROUNDING)
    assert torch.linalg.eigvalsh(Q).min() > -ROUNDING


@pytest.mark.oracle
@pytest.mark.parametrize("text", STRUCTURES)
def test_news_is_the_covariance_given_the_state_before(text):
    prior = random_prior(text, 2)
    since = torch.tensor([0.0, 0.1, 0.4]).double()
    to = torch.tensor([0.3, 0.0, 0.2]).double()
    t = 0.2 + since
    whole = prior.backward_column(t, to, 1)
    before = prior.forward_row(t, since, 1)
    across = prior.transition(since + to, 1)
    expected = whole - (across @ before.unsqueeze(-1)).squeeze(-1)
    found = prior.news_column(t, since, to, 1)
    torch.testing.assert_close(found, expected, rtol=0, atol=10 * ROUNDING)
    assert torch.equal(found[..., 0, :], torch.zeros_like(found[..., 0, :]))


def test_fixed_is_apart_and_double():
    prior = markov_prior(kernel("Linear() + Matern(1.5)").float())
    for term in prior.fixed().terms:
        tensors = [term.variance, *term.offsets, *(rate for _, rate in term.factors)]
        assert all(v.dtype == torch.float64 and not v.requires_grad for v in tensors)
