"""What kernels share whose inputs Gaussian processes multiply and add to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import NamedTuple

from torch import Tensor, nn

from bokern import hyperpriors
from bokern.kernels.base import ColumnKernel, Columns
from bokern.kernels.gaussian_warp import Process, Spread, moments, warped
from bokern.kernels.hyperdata import spread_places

PSEUDO_NOISE = 0.15
"""Standard deviation of the noise of pseudo-targets: with it a few places bend the
inputs, and do not tear them."""

STILL = math.log(1e-3)
"""Log scale of a warp that moves nothing that matters, and still has a gradient."""

UNIFORM = math.sqrt(12.0)
"""Warps take inputs about the box's centre in standard deviations of uniform ones."""


class Bend(NamedTuple):
    """What one layer makes of its inputs; ``... x n x columns``, or x 1 of one for all.

    Args:
        gain: Mean and variance of what inputs are multiplied by.
        shift: Mean and variance of what is added to them.
        inputs: What the layer is given.
        outputs: What it gives.
    """

    gain: tuple[Tensor, Tensor]
    shift: tuple[Tensor, Tensor]
    inputs: Spread
    outputs: Spread


class WarpKernel(ColumnKernel):
    """Base of kernels on inputs that layers of Gaussian processes have moved.

    Each layer multiplies every column by one process and adds another, both given
    learned pseudo-targets: see `bokern.kernels.gaussian_warp`.

    Args:
        columns: Columns read, each with a lengthscale.
        layers: Warps, one after the other.
        places: J, at fixed scrambled-Sobol places of the box.
        plug_in: See `bokern.kernels.gaussian_warp.warped`.
        batch_shape: Leading dimensions of the hyperparameters.
    """

    is_stationary = False
    waits = MappingProxyType(
        {"raw_gain": 0.0, "raw_shift": 0.0}
        | {"raw_gain_scale": STILL, "raw_shift_scale": STILL}
    )

    def __init__(
        self,
        columns: Columns,
        layers: int = 1,
        places: int = 8,
        plug_in: bool = False,
        batch_shape: Sequence[int] = (),
    ) -> None:
        d = columns.size
        super().__init__(columns, batch_shape=batch_shape)
        self.layers = layers
        self.plug_in = plug_in
        self.places = _Places(places, d)
        targets = hyperpriors.hyperdatum()
        for name in ("gain", "shift"):
            shape = (layers, places, d)
            self.register_hyperparameter(name, shape, targets, positive=False)
            self.register_hyperparameter(
                f"{name}_scale", (layers,), hyperpriors.warp_scale()
            )
            self.register_hyperparameter(
                f"{name}_lengthscale", (layers,), hyperpriors.warp_lengthscale(d)
            )
            self.initialize_hyperparameter(f"{name}_scale", 0.5)
            self.initialize_hyperparameter(f"{name}_lengthscale", 3.0 * math.sqrt(d))

    def warp(self, x: Tensor) -> Spread:
        """Warped inputs, in standard deviations of uniform ones about the centre."""
        *_, last = self.bends(x)
        return last.outputs

    def bends(self, x: Tensor) -> Iterator[Bend]:
        """What each layer does to ``... x n x d`` inputs, the first one first."""
        places = self.places.values.to(x)
        inputs = Spread(UNIFORM * (self.columns.select(x) - 0.5), None)
        for layer in range(self.layers):
            g, h = (
                moments(inputs, places, self.process(name, layer), self.plug_in)
                for name in ("gain", "shift")
            )
            g = (1.0 + g[0], g[1])
            outputs = warped(inputs, g, h)
            yield Bend(g, h, inputs, outputs)
            inputs = outputs

    def process(self, name: str, layer: int) -> Process:
        """The ``"gain"`` or ``"shift"`` of a layer."""
        return Process(
            self.hyperparameter(name)[..., layer, :, :],
            self.hyperparameter(f"{name}_scale")[..., layer],
            self.hyperparameter(f"{name}_lengthscale")[..., layer],
            PSEUDO_NOISE,
        )


class _Places(nn.Module):
    """Kept apart, so that GPyTorch's batch indexing leaves them alone."""

    values: Tensor

    def __init__(self, count: int, dim: int) -> None:
        super().__init__()
        spread = UNIFORM * (spread_places(count, range(dim), dim) - 0.5)
        self.register_buffer("values", spread, persistent=False)
