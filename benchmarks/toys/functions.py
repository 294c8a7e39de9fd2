"""Noisy targets of functions on [0, 1], in the spirit of figure 1 of [SSWIM]."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bokern import seeding

ROWS, GRID = 200, 2000
NOISE = 0.1
"""Standard deviation of the noise; that of each function is 1 over the grid."""

BREAKS = (0.13, 0.41, 0.58, 0.84)
LEVELS = (0.0, 1.0, 0.4, 1.9, 2.6)
"""Of the steps. A break lies in a gap of about .01 between two inputs, and nobody can
know where: with more or higher ones an error of .14 would be out of reach."""


def step(x: Tensor) -> Tensor:
    """Constant between four breaks."""
    levels = torch.tensor(LEVELS, dtype=x.dtype)
    return levels[torch.bucketize(x, torch.tensor(BREAKS, dtype=x.dtype), right=True)]


def chirp(x: Tensor) -> Tensor:
    """A sine of a frequency that rises linearly from 1 to 31."""
    return torch.sin(2.0 * math.pi * (x + 15.0 * x.square()))


def mix(x: Tensor) -> Tensor:
    """Steps, then a sine of frequency 6, then a chirp from 6 to 30, a third each."""
    stairs = torch.tensor([1.0, -1.0, 0.4, -0.7, 1.2], dtype=x.dtype)
    first = stairs[(15.0 * x).long().clamp(0, 4)]
    rest = (x - 2.0 / 3.0).clamp_min(0.0)
    sine = torch.sin(2.0 * math.pi * (6.0 * (x - 1.0 / 3.0) + 36.0 * rest.square()))
    return torch.where(x < 1.0 / 3.0, first, sine)


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "step": step,
    "chirp": chirp,
    "mix": mix,
}


@dataclass(frozen=True)
class Toy:
    """Float64.

    Args:
        X: ``200 x 1``, uniform.
        y: ``200``, with noise.
        X_test: ``2000 x 1``, evenly spaced.
        f_test: ``2000``, without noise.
        y_test: ``2000``, with noise.
    """

    X: Tensor
    y: Tensor
    X_test: Tensor
    f_test: Tensor
    y_test: Tensor


def make_toy(name: str, seed: int) -> Toy:
    """The data of a seed."""
    source = seeding.generator("toys", name, seed)
    grid = (torch.arange(GRID, dtype=torch.float64) + 0.5) / GRID
    f = FUNCTIONS[name](grid)
    shift, scale = f.mean(), f.std(correction=0)
    x = torch.rand(ROWS, generator=source, dtype=torch.float64)
    noise = torch.randn(ROWS + GRID, generator=source, dtype=torch.float64)
    y = (FUNCTIONS[name](x) - shift) / scale + NOISE * noise[:ROWS]
    f_test = (f - shift) / scale
    y_test = f_test + NOISE * noise[ROWS:]
    return Toy(x.unsqueeze(-1), y, grid.unsqueeze(-1), f_test, y_test)
