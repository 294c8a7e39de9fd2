from __future__ import annotations

import itertools

import pytest
import torch

from bokern.errors import DataError, GroupError
from bokern.problems import InvariantDraw
from bokern.problems.covariance import invariant, matern52
from bokern.views import Orbit, cyclic, permutations


def _points(n: int, d: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, d, dtype=torch.float64, generator=generator)


def _naive(x1, x2, lengthscale, images, normalised):
    """The mean over both orbits, element by element."""

    def base(a, b):
        r = 5**0.5 * sum((s - t) ** 2 for s, t in zip(a, b, strict=True)) ** 0.5
        r /= lengthscale
        return (1 + r + r**2 / 3) * 2.718281828459045 ** (-r)

    def mean(a, b):
        pairs = itertools.product(images, images)
        values = [base([a[i] for i in g], [b[j] for j in h]) for g, h in pairs]
        return sum(values) / len(values)

    rows = []
    for a in x1.tolist():
        row = [mean(a, b) for b in x2.tolist()]
        if normalised:
            row = [
                v / (mean(a, a) * mean(b, b)) ** 0.5
                for v, b in zip(row, x2.tolist(), strict=True)
            ]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.oracle
@pytest.mark.parametrize("normalised", [False, True])
def test_covariance_is_the_mean_over_both_orbits(normalised):
    images = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    x1, x2 = _points(4, 3), _points(5, 3, seed=1)
    orbit = Orbit(cyclic(3).resolve(("a", "b", "c")), 3)
    ours = invariant(matern52(0.3), x1, x2, orbit, normalised)
    torch.testing.assert_close(ours, _naive(x1, x2, 0.3, images, normalised))


@pytest.mark.parametrize("normalised", [False, True])
def test_draw_is_invariant_and_not_more(normalised):
    draw = InvariantDraw(points=64, normalised=normalised)
    X = _points(50, 3)
    shifted = X[:, [1, 2, 0]]
    torch.testing.assert_close(draw.evaluate(X), draw.evaluate(shifted))
    swapped = X[:, [1, 0, 2]]
    assert (draw.evaluate(X) - draw.evaluate(swapped)).abs().max() > 0.1
    assert draw.group == "cyclic(3)"


def test_draw_takes_the_drawn_values_at_its_points():
    draw = InvariantDraw(points=64, seed=5)
    L = torch.linalg.cholesky(draw._covariance(draw._X, draw._X))
    z = torch.linalg.solve_triangular(
        L, draw.evaluate(draw._X).unsqueeze(-1), upper=False
    )
    # Standard normal under the prior: 64 squares sum to a chi-squared.
    assert 35 < z.square().sum() < 104


@pytest.mark.statistical
@pytest.mark.parametrize("normalised", [False, True])
def test_prior_variance_is_flat_only_when_normalised(normalised):
    diagonal = torch.full((1, 3), 0.4, dtype=torch.float64)
    spread = torch.tensor([[0.1, 0.5, 0.9]], dtype=torch.float64)
    orbit = Orbit(cyclic(3).resolve(("a", "b", "c")), 3)

    def variance(x):
        return invariant(matern52(0.18), x, x, orbit, normalised).item()

    assert variance(diagonal) == pytest.approx(1.0)
    assert variance(spread) == pytest.approx(1.0 if normalised else 1 / 3, abs=0.1)


def test_a_seed_is_a_function():
    X = _points(5, 3)
    first, same, other = (InvariantDraw(points=32, seed=s) for s in (1, 1, 2))
    assert first.evaluate(X).equal(same.evaluate(X))
    assert not torch.allclose(first.evaluate(X), other.evaluate(X))
    assert first.name != other.name


def test_optimizers_are_one_orbit():
    draw = InvariantDraw(seed=1)
    sorted_points = {tuple(sorted(p)) for p in draw.optimizers}
    assert len(sorted_points) == 1
    assert len(draw.optimizers) == 3


def test_a_minimum_that_the_group_fixes_is_one_point():
    draw = InvariantDraw(seed=0)
    (point,) = draw.optimizers
    assert max(point) - min(point) < 1e-6


def test_another_group_and_dimension():
    draw = InvariantDraw(permutations(4), dim=4, lengthscale=0.3, points=32)
    X = _points(10, 4)
    torch.testing.assert_close(draw.evaluate(X), draw.evaluate(X[:, [3, 1, 0, 2]]))
    assert draw.group == "permutations(4)"


def test_a_group_of_another_size_is_refused():
    with pytest.raises(GroupError, match="expects 3"):
        InvariantDraw(cyclic(3), dim=4)


@pytest.mark.parametrize("wrong", [{"lengthscale": 0.0}, {"points": 0}])
def test_sizes_are_positive(wrong):
    with pytest.raises(DataError, match="positive"):
        InvariantDraw(**wrong)
