"""Yeo and Johnson's power transform of outcomes; BoTorch has none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.posteriors import Posterior, TransformedPosterior
from torch import Tensor

from bokern.errors import InputError

MIN_POWER, MAX_POWER = 0.0, 2.0
"""Between these the transform maps the reals onto the reals; beyond, it is bounded on
one side: a Gaussian would put mass where no outcome is, and have no raw mean."""

NODES = 64
"""Of Gauss and Hermite. The third derivative jumps at the location: means are within
1e-4 standard deviations and variances within 1e-4 of themselves."""

_AT, _WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)


class YeoJohnson(OutcomeTransform):
    r"""A monotone power of the outcome, of either sign, with a fixed power λ.

    Tames tails and penalties. In units $u = (y - a) / s$ of a location and a scale,

    $$T(u) = \begin{cases} ((1 + u)^\lambda - 1) / \lambda & u \ge 0 \\
      -((1 - u)^{2 - \lambda} - 1) / (2 - \lambda) & u < 0 \end{cases}$$

    with logarithms at λ = 0 and 2. Below 1 it draws in the right tail, above 1 the
    left one. Posteriors have the mean and variance of the raw outcome by
    Gauss–Hermite quadrature; samples are exact.

    Reduces to: $u$ when λ = 1; $\log(1 + u)$ for positive $u$ when λ = 0.
    Valid for: λ in [0, 2], where every raw moment of a Gaussian exists.
    Cost: 64 evaluations for each mean and variance.

    Args:
        power: λ.
        location: a, in raw units.
        scale: s, in raw units, positive.

    Raises:
        InputError: If λ is outside [0, 2] or the scale is not positive.

    References:
        [YeoJohnson] section 2
    """

    power: Tensor
    location: Tensor
    scale: Tensor

    def __init__(self, power: float, location: float = 0.0, scale: float = 1.0) -> None:
        super().__init__()
        if not MIN_POWER <= power <= MAX_POWER:
            raise InputError(
                f"a Yeo-Johnson power is expected from {MIN_POWER:g} to {MAX_POWER:g}, "
                f"got {power!r}: beyond, the transform does not reach all numbers; "
                "use the nearest end"
            )
        if not (math.isfinite(location) and 0.0 < scale < math.inf):
            raise InputError(
                "location and scale are expected finite and the scale positive, got "
                f"{location!r} and {scale!r}"
            )
        values = {"power": power, "location": location, "scale": scale}
        for name, value in values.items():
            self.register_buffer(name, torch.tensor(float(value), dtype=torch.float64))

    def forward(
        self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Transformed outcomes, ``batch x n x m``.

        Raises:
            InputError: If variances are given.
        """
        _refuse(Yvar)
        u = (Y - self.location) / self.scale
        right, left = self._exponents()
        above, below = u.clamp_min(0.0), (-u).clamp_min(0.0)
        return torch.where(u >= 0, _power(above, right), -_power(below, left)), None

    def untransform(
        self, Y: Tensor, Yvar: Tensor | None = None, X: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Raw outcomes, ``batch x n x m``.

        Raises:
            InputError: If variances are given.
        """
        _refuse(Yvar)
        return self._inverse(Y), None

    def log_slope(self, Y: Tensor) -> Tensor:
        """``log |dT/dy|`` at raw outcomes, of their shape."""
        u = (Y - self.location) / self.scale
        right, left = self._exponents()
        logarithm = u.abs().log1p()
        stretch = torch.where(
            u >= 0, (right - 1.0) * logarithm, (left - 1.0) * logarithm
        )
        return stretch - self.scale.log()

    def untransform_posterior(
        self, posterior: Posterior, X: Tensor | None = None
    ) -> TransformedPosterior:
        """The posterior of the raw outcome, of any posterior with Gaussian margins."""
        return TransformedPosterior(
            posterior,
            sample_transform=self._inverse,
            mean_transform=lambda mean, variance: self.moments(mean, variance)[0],
            variance_transform=lambda mean, variance: self.moments(mean, variance)[1],
        )

    def subset_output(self, idcs: list[int]) -> OutcomeTransform:
        """The same: all outcomes share the power."""
        return self

    def moments(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of the raw outcome, from a Gaussian's, of any shape."""
        at, share = mean.new_tensor(_AT), mean.new_tensor(_WEIGHTS / _WEIGHTS.sum())
        sd = variance.clamp_min(torch.finfo(variance.dtype).tiny).sqrt()
        values = self._inverse(mean.unsqueeze(-1) + sd.unsqueeze(-1) * at)
        raw = (values * share).sum(-1)
        return raw, ((values - raw.unsqueeze(-1)).square() * share).sum(-1)

    def _exponents(self) -> tuple[float, float]:
        power = float(self.power)
        return power, MAX_POWER - power

    def _inverse(self, z: Tensor) -> Tensor:
        right, left = self._exponents()
        above, below = z.clamp_min(0.0), (-z).clamp_min(0.0)
        u = torch.where(z >= 0, _root(above, right), -_root(below, left))
        return self.location + self.scale * u


def _power(magnitude: Tensor, exponent: float) -> Tensor:
    logarithm = magnitude.log1p()
    return (exponent * logarithm).expm1() / exponent if exponent else logarithm


def _root(value: Tensor, exponent: float) -> Tensor:
    """The inverse of `_power`, cut where its fourth power would overflow.

    That is at 1e77 scales in float64 and at 4e9 in float32: Gaussians reach there only
    far from all data, and variances stay finite.
    """
    logarithm = (exponent * value).log1p() / exponent if exponent else value
    return logarithm.clamp_max(0.25 * math.log(torch.finfo(value.dtype).max)).expm1()


def _refuse(variances: Any) -> None:
    if variances is not None:
        raise InputError(
            "known variances are of raw outcomes and do not pass through Yeo-Johnson: "
            "leave the noise to be inferred, or use outcome='identity'"
        )
