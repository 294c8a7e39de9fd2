"""Factorisations and distances."""

from __future__ import annotations

import math

import linear_operator
import pytest
import torch

from bokern import numerics
from tests import tolerances


def covariance(n, seed=0):
    root = torch.randn(
        n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    return root @ root.mT + torch.eye(n, dtype=torch.float64)


def test_log_2pi():
    assert math.isclose(numerics.LOG_2PI, math.log(2.0 * math.pi))


def test_good_matrices_get_no_jitter():
    K = torch.stack([covariance(4, seed) for seed in range(3)])
    L, good = numerics.cholesky(K)
    assert good.all()
    assert torch.equal(L, torch.linalg.cholesky(K))


def test_each_matrix_of_a_batch_gets_the_least_jitter_it_needs():
    ones = torch.ones(4, 4, dtype=torch.float64)
    eye = torch.eye(4, dtype=torch.float64)
    short = [2e-10, 5e-9, 1e-6, 1e-5]
    K = torch.stack(
        [covariance(4), *(5.0 * ones - by * eye for by in short), -covariance(4)]
    )
    L, good = numerics.cholesky(K)
    assert good.tolist() == [True] * 4 + [False] * 2
    assert torch.equal(L[0], torch.linalg.cholesky(K[0]))
    added = (L @ L.mT - K).diagonal(dim1=-2, dim2=-1)[1:4].mean(-1)
    assert added.tolist() == pytest.approx([5e-10, 5e-8, 5e-6], rel=1e-3)
    assert L[4:].isnan().all()


def test_single_precision_may_need_more():
    ones, eye = torch.ones(4, 4), torch.eye(4)
    K = torch.stack([5.0 * ones - by * eye for by in (1e-4, 1e-2)])
    L, good = numerics.cholesky(K)
    assert L.dtype == torch.float32
    assert good.tolist() == [True, False]
    added = (L[0] @ L[0].mT - K[0]).diagonal().mean()
    assert added.item() == pytest.approx(5e-4, rel=0.05)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_fails_alone(bad):
    broken = covariance(3)
    broken[1, 2] = broken[2, 1] = bad
    L, good = numerics.cholesky(torch.stack([broken, covariance(3)]))
    assert good.tolist() == [False, True]
    assert torch.isfinite(L[1]).all()


def test_the_gradient_goes_through_a_jitter():
    scale = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    L, good = numerics.cholesky(scale * torch.ones(3, 3, dtype=torch.float64))
    assert good
    (gradient,) = torch.autograd.grad(L[0, 0], scale)
    assert gradient.item() == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-6)


def test_global_settings_have_no_say():
    ones = torch.ones(3, 3, dtype=torch.float64)
    expected, _ = numerics.cholesky(ones)
    with (
        linear_operator.settings.cholesky_jitter(float_value=1.0, double_value=1.0),
        linear_operator.settings.max_cholesky_size(1),
    ):
        assert torch.equal(numerics.cholesky(ones)[0], expected)


@pytest.mark.parametrize("dim", [1, 4, 5, 9])
def test_squared_distances(dim):
    generator = torch.Generator().manual_seed(dim)
    x = torch.rand(2, 5, dim, generator=generator, dtype=torch.float64)
    y = torch.rand(2, 3, dim, generator=generator, dtype=torch.float64)
    result = numerics.squared_distance(x, y)
    for b in range(2):
        for i in range(5):
            for j in range(3):
                terms = zip(x[b, i].tolist(), y[b, j].tolist(), strict=True)
                expected = sum((p - q) ** 2 for p, q in terms)
                assert abs(result[b, i, j].item() - expected) < tolerances.ROUNDING
    pairs = numerics.paired_squared_distance(x[:, :3], y)
    torch.testing.assert_close(pairs, result[:, :3].diagonal(dim1=-2, dim2=-1))
    assert numerics.squared_distance(x, x).min() >= 0.0


@pytest.mark.parametrize("dim", [2, 5])
def test_distances_keep_their_digits_far_from_the_origin(dim):
    x = torch.rand(4, dim, dtype=torch.float64)
    here = numerics.squared_distance(x, x)
    there = numerics.squared_distance(x + 1e5, x + 1e5)
    torch.testing.assert_close(there, here, rtol=0.0, atol=1e-9)


@pytest.mark.equivalence
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dim", [1, 2, 4, 6])
def test_scaled_squared_distances(dim, lead):
    generator = torch.Generator().manual_seed(dim)
    x = torch.rand(5, dim, generator=generator, dtype=torch.float64)
    y = torch.rand(3, dim, generator=generator, dtype=torch.float64)
    ell = torch.rand(*lead, 1, dim, generator=generator, dtype=torch.float64) + 0.3
    ell.requires_grad_(True)
    found = numerics.scaled_squared_distance(x, y, ell)
    assert found.shape == (*lead, 5, 3)
    expected = numerics.squared_distance(x / ell, y / ell)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    same = numerics.scaled_squared_distance(x, x, ell).diagonal(0, -2, -1)
    assert same.abs().max() < tolerances.ROUNDING

    def of_scale(ell):
        return numerics.scaled_squared_distance(x, y, ell)

    assert torch.autograd.gradcheck(of_scale, ell)
    assert torch.autograd.gradgradcheck(of_scale, ell)
    moving = x.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(
        numerics.scaled_squared_distance(moving, y, ell).sum(), moving
    )
    away = 2.0 * (x.unsqueeze(-2) - y).sum(-2)
    per_scale = away * (1.0 / ell.detach().square()).reshape(-1, 1, dim).sum(0)
    torch.testing.assert_close(slope, per_scale, rtol=1e-9, atol=1e-9)


def test_scaled_distances_do_not_depend_on_the_order_of_memory():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(40, 3, generator=generator, dtype=torch.float64)
    ell = torch.rand(1, 3, generator=generator, dtype=torch.float64) + 0.2
    by_column = x.mT.contiguous().mT
    assert by_column.stride() != x.stride()
    found = numerics.scaled_squared_distance(by_column, by_column, ell)
    assert torch.equal(found, numerics.scaled_squared_distance(x, x, ell))


def test_safe_sqrt():
    x = torch.tensor([0.0, 4.0, 9.0], dtype=torch.float64, requires_grad=True)
    root = numerics.safe_sqrt(x)
    assert root.tolist() == [0.0, 2.0, 3.0]
    (first,) = torch.autograd.grad(root.sum(), x, create_graph=True)
    assert first.tolist() == pytest.approx([0.0, 1 / 4, 1 / 6])
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx([0.0, -1 / 32, -1 / 108])
