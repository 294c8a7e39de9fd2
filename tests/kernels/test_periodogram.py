"""Periods that the data show, against a naive sum and on series with known ones."""

from __future__ import annotations

import cmath
import math

import pytest
import torch

from bokern.kernels import Columns, PeriodicKernel
from bokern.kernels.periodogram import HARMONICS, SPACING, likely_periods


def wave(n=300, cycles=37.0, amplitude=0.3, seed=0, kept=None):
    """A wave on a random walk of unit variance, at some of n equally spaced inputs."""
    source = torch.Generator().manual_seed(seed)
    x = torch.linspace(0.0, 1.0, n, dtype=torch.float64)
    walk = torch.randn(n, dtype=torch.float64, generator=source).cumsum(0) / n**0.5
    z = walk + amplitude * torch.sin(2.0 * math.pi * cycles * x)
    if kept is None:
        return x, z
    rows = torch.randperm(n, generator=source)[:kept]
    return x[rows], z[rows]


@pytest.mark.oracle
def test_quantiles_are_those_of_a_naive_sum():
    x, z = wave(n=24, cycles=5.0)
    d = [(z[i + 1] - z[i]) / math.sqrt(x[i + 1] - x[i]) for i in range(23)]
    t = [float(x[i + 1] + x[i]) / 2.0 for i in range(23)]
    mean = sum(float(v) for v in d) / 23
    grid, f = [], 1.0
    while f <= 23 / 2:
        grid.append(f)
        f += SPACING

    def power(f):
        terms = (
            (float(v) - mean) * cmath.exp(2j * math.pi * f * s)
            for v, s in zip(d, t, strict=True)
        )
        return abs(sum(terms)) ** 2

    density = [
        sum(power(h * f) ** 2 for h in range(1, HARMONICS + 1) if h * f <= grid[-1])
        for f in grid
    ]
    expected, below = [], 0.0
    for level in (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95):
        below, number = 0.0, -1
        while below < level * sum(density):
            number += 1
            below += density[number]
        expected.append(1.0 / grid[number])
    torch.testing.assert_close(
        likely_periods(x, z, 10), torch.tensor(expected, dtype=torch.float64)
    )


@pytest.mark.parametrize("cycles", [12.0, 37.0, 80.0])
@pytest.mark.parametrize("kept", [None, 200])
@pytest.mark.parametrize("seed", range(3))
def test_a_wave_on_a_random_walk_is_likely(cycles, kept, seed):
    x, z = wave(cycles=cycles, seed=seed, kept=kept)
    frequencies = likely_periods(x, z, 100).reciprocal()
    # Of frequencies drawn evenly, 1 in 100 would be so near.
    assert ((frequencies - cycles).abs() < 0.6).double().mean() > 0.2


def test_the_period_of_harmonics_alone_is_likely_too():
    x, z = wave(cycles=40.0)
    z = z + 0.2 * torch.sin(2.0 * math.pi * 60.0 * x)
    frequencies = likely_periods(x, z, 100).reciprocal()
    assert ((frequencies - 20.0).abs() < 0.3).double().mean() > 0.1


def test_the_order_of_rows_does_not_matter():
    x, z = wave(n=50)
    rows = torch.randperm(50, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        likely_periods(x[rows], z[rows], 20), likely_periods(x, z, 20)
    )


def test_repeated_inputs_are_no_step():
    x, z = wave(n=60)
    twice = likely_periods(torch.cat([x, x]), torch.cat([z, z]), 20)
    torch.testing.assert_close(twice, likely_periods(x, z, 20))


@pytest.mark.parametrize("n", [1, 3])
def test_few_inputs_show_none(n):
    x, z = wave(n=n)
    assert likely_periods(x, z, 20).shape == (0,)


def test_a_constant_shows_none():
    x, _ = wave(n=30)
    assert likely_periods(x, torch.zeros_like(x), 20).shape == (0,)


def test_a_kernel_of_one_column_has_them_and_of_several_none():
    x, z = wave(n=40)
    kernel = PeriodicKernel(Columns([0], None, 1))
    (values,) = kernel.likely_values(x.unsqueeze(-1), z).values()
    torch.testing.assert_close(values.exp(), likely_periods(x, z, len(values)))
    several = PeriodicKernel(Columns([0], None, 2))
    assert several.likely_values(torch.stack([x, x], -1), z) == {}
