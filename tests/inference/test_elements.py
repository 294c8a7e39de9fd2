from __future__ import annotations

import math
from functools import reduce

import pytest
import torch

from bokern.inference import elements as module
from bokern.inference.elements import Elements, combine, prefixes, suffixes, total
from tests.tolerances import SUMS


def stretches(count: int, s: int = 2, *batch: int, seed: int = 0) -> Elements:
    """Stretches at random, one in three of a singular C and of a singular J."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        shape = (*batch, count, *shape)
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    low = torch.arange(count) % 3 == 0
    C, J = draw(s, s), draw(s, s)
    C[..., low, :, 0], J[..., low, :, -1] = 0.0, 0.0
    return Elements(
        A=0.7 * draw(s, s),
        b=draw(s, 1),
        C=C @ C.mT,
        eta=draw(s, 1),
        J=J @ J.mT,
        c=draw(),
        reference=draw(s, 1),
    )


def log_density(e: Elements, x: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Of the data and the state after, as the definition says."""
    d = x - e.reference
    value = e.c + (e.eta * d - 0.5 * d * (e.J @ d)).sum((-2, -1))
    mean = (e.b + e.A @ d).squeeze(-1)
    law = torch.distributions.MultivariateNormal(mean, e.C)
    return value + law.log_prob(after.squeeze(-1))


@pytest.mark.oracle
def test_two_combined_are_the_integral_over_the_state_between():
    """By quadrature of one-dimensional states on a fine grid."""
    both = stretches(2, 1, seed=3)
    both = both._replace(C=both.C + 0.3)
    first, second = both.at(slice(1)), both.at(slice(1, 2))
    x, after = torch.tensor([[0.4]]).double(), torch.tensor([[-0.7]]).double()
    grid = torch.linspace(-30.0, 30.0, 60001, dtype=torch.float64)
    between = grid.reshape(-1, 1, 1, 1)
    density = log_density(first, x, between) + log_density(second, between, after)
    expected = torch.logsumexp(density.squeeze(-1), 0) + math.log(grid[1] - grid[0])
    found = log_density(combine(first, second), x, after)
    assert found.item() == pytest.approx(expected.item(), abs=1e-9)


@pytest.mark.parametrize("s", [1, 3])
def test_combining_is_associative(s):
    a, b, c = (stretches(4, s, 2, seed=i) for i in range(3))
    left, right = combine(combine(a, b), c), combine(a, combine(b, c))
    for one, other in zip(left, right, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)


def test_a_reference_is_only_a_manner_of_speaking():
    a, b = stretches(1, 2, seed=1), stretches(1, 2, seed=2)
    moved = torch.tensor([[0.3], [-1.1]]).double()
    c = b.c + (b.eta * moved - 0.5 * moved * (b.J @ moved)).sum((-2, -1))
    same = b._replace(
        reference=b.reference + moved,
        b=b.b + b.A @ moved,
        eta=b.eta - b.J @ moved,
        c=c,
    )
    for one, other in zip(combine(a, b), combine(a, same), strict=True):
        torch.testing.assert_close(one, other, rtol=SUMS, atol=SUMS)


@pytest.mark.equivalence
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17])
def test_trees_and_scans_equal_loops(count):
    whole = stretches(count, 2, 3)
    singles = [whole.at(slice(i, i + 1)) for i in range(count)]
    firsts = [reduce(combine, singles[: k + 1]) for k in range(count)]
    lasts = [reduce(combine, singles[k:]) for k in range(count)]
    for found, expected in (
        (total(whole), firsts[-1]),
        (prefixes(whole), reduce(Elements.then, firsts)),
        (suffixes(whole), reduce(Elements.then, lasts)),
    ):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("count", [63, 1024])
def test_steps_are_logarithmic_and_work_is_linear(count, monkeypatch):
    sizes = []

    def counted(first, second):
        sizes.append(first.number)
        return combine(first, second)

    monkeypatch.setattr(module, "combine", counted)
    total(stretches(count, 1))
    assert len(sizes) <= math.ceil(math.log2(count))
    assert sum(sizes) == count - 1
    sizes.clear()
    prefixes(stretches(count, 1))
    assert len(sizes) <= 2 * math.ceil(math.log2(count))
    assert sum(sizes) < 2 * count
