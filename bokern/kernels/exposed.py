r"""Outer layers of deep kernels: what they expect of a Gaussian difference.

An outer covariance $k(\Delta)$ of a difference of latents $\Delta_h \sim N(\mu_h, v)$,
independent with one variance, has the expectation that is given here, in units of the
outer lengthscale, which is redundant with the scale of the latents.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from gpytorch.priors import Prior
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.expected_mixture import Rule

NODES, DEPTH = 24, 9.0
"""Of the trapezoid rule of a scale mixture: nodes, and by how many nats the mixing
density has fallen at its ends. Errors of the kernel are below 4e-7 for Matérn and 2e-5
for a rational quadratic of α ≥ .3; generalised Gauss–Laguerre of 32 nodes has 1e-3 and
5e-2."""

LEAST = -14.0
"""Log precisions below this count as this: the correlation there is 1 to 1e-6."""

HARMONICS = 32
"""Of a periodic layer: those beyond are below 1e-8 for lengthscales of .2 and more."""


class Exposed(ABC):
    """An outer layer, of variance 1.

    Attributes:
        is_radial: Whether it is a function of the distance between several latents;
            others take one latent.
    """

    is_radial = False

    @property
    def hyperparameters(self) -> Mapping[str, tuple[tuple[int, ...], Prior]]:
        """Trailing shape and prior of each positive hyperparameter; none by default."""
        return {}

    @abstractmethod
    def expected(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """Expected correlation, elementwise.

        Args:
            mean: Of the difference; if radial, its squares summed over the latents.
            variance: Of the difference of each latent.
            width: Number of latents.
            values: Hyperparameters by name. Their leading dimensions broadcast with
                those of ``mean``, one trailing dimension of size 1 being there for
                each of its others.
        """

    def complement(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """One minus the expected correlation."""
        return 1.0 - self.expected(mean, variance, width, values)

    def expected_square(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor | None:
        """Expected square of the correlation; None where there is no closed form."""
        return None


class ExposedRBF(Exposed):
    r"""$(1+v)^{-H/2} \exp(-|\mu|^2 / (2 (1+v)))$.

    References:
        [CDGP] eq. 12; [Moments]; MATH section 3
    """

    is_radial = True
    rule: Rule = ((1.0, 1.0),)
    """Weights and squared lengthscales: of itself alone."""

    def expected(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """From squared differences."""
        return torch.exp(self._log(mean, variance, width))

    def complement(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """Without subtracting near-equal numbers."""
        return -torch.expm1(self._log(mean, variance, width))

    def expected_square(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """The square is one of a lengthscale √2 times shorter."""
        return self.expected(2.0 * mean, 2.0 * variance, width, values)

    def _log(self, mean: Tensor, variance: Tensor, width: int) -> Tensor:
        return -0.5 * (width * torch.log1p(variance) + mean / (1.0 + variance))


class _ScaleMixture(Exposed):
    r"""Squared exponentials of random lengthscale.

    $$\int (1 + v/g)^{-H/2} \exp\Big(-\frac{|\mu|^2}{2 (g + v)}\Big)\, p(g)\, dg$$

    by a trapezoid rule in $\log g$. Its weights are positive, so that it is positive
    semi-definite, and its nodes smooth functions of the shape.
    """

    is_radial = True
    is_of_precision = False
    """Whether 1/g, rather than g, is gamma-distributed with mean 1."""

    @abstractmethod
    def shape(self, values: Mapping[str, Tensor], like: Tensor) -> Tensor:
        """Shape of the gamma density."""

    def expected(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """A weighted sum over the nodes, from squared differences."""
        total = torch.zeros_like(mean)
        for weight, log_gamma in self._rule(self.shape(values, mean)):
            g = torch.exp(-log_gamma if self.is_of_precision else log_gamma)
            log = width * torch.log1p(variance / g) + mean / (g + variance)
            total = total + weight * torch.exp(-0.5 * log)
        return total

    def _rule(self, shape: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Weights, and nodes in the logarithm of the gamma variable, from the left."""
        depth = DEPTH / shape
        reach = depth + (2.0 * depth).sqrt()
        left = -reach
        if self.is_of_precision:
            left = left.clamp_min(LEAST)
        step = (torch.log1p(reach) - left) / (NODES - 1)
        nodes = [left + i * step for i in range(NODES)]
        constant = shape * shape.log() - torch.lgamma(shape) + step.log()
        weights = [torch.exp(constant + shape * (s - torch.exp(s))) for s in nodes]
        # What lies further to the left counts as the first.
        weights[0] = (1.0 - torch.stack(weights[1:]).sum(0)).clamp_min(0.0)
        yield from zip(weights, nodes, strict=True)


class ExposedMatern(_ScaleMixture):
    """Matérn of ν = 3/2 or 5/2.

    Not ν = 1/2: its cusp mixes lengthscales of any smallness, and the rule would need
    nodes without end.

    References:
        [GPML] section 4.2.1 for the mixture
    """

    def __init__(self, nu: float) -> None:
        self.nu = nu

    @property
    def rule(self) -> Rule:
        """Weights and squared lengthscales of the squared exponentials, as numbers."""
        nodes = self._rule(torch.tensor(self.nu, dtype=torch.float64, device="cpu"))
        return tuple((weight.item(), log.exp().item()) for weight, log in nodes)

    def shape(self, values: Mapping[str, Tensor], like: Tensor) -> Tensor:
        """ν."""
        return like.new_tensor(self.nu)


class ExposedRationalQuadratic(_ScaleMixture):
    """Rational quadratic of shape α.

    References:
        [GPML] eq. 4.20
    """

    is_of_precision = True

    @property
    def hyperparameters(self) -> Mapping[str, tuple[tuple[int, ...], Prior]]:
        """α."""
        return {"alpha": ((), hyperpriors.mixture_shape())}

    def shape(self, values: Mapping[str, Tensor], like: Tensor) -> Tensor:
        """α."""
        return values["alpha"].to(like)


class ExposedCosine(Exposed):
    r"""$e^{-v/2} \cos \mu$.

    Or squared: of $\cos^2(\Delta/2)$, $\tfrac12 (1 + e^{-v/2} \cos \mu)$.

    References:
        [Moments]; MATH section 3
    """

    def __init__(self, squared: bool = False) -> None:
        self.squared = squared

    def expected(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """From signed differences."""
        cosine = torch.exp(-0.5 * variance) * torch.cos(mean)
        return 0.5 * (1.0 + cosine) if self.squared else cosine


class ExposedPeriodic(Exposed):
    r"""$\exp(-2 \sin^2(\pi \Delta) / \ell^2)$, of period 1, by its Fourier series.

    $$\sum_k c_k\, e^{-z} I_k(z)\, e^{-2 \pi^2 k^2 v} \cos(2 \pi k \mu), \qquad
      z = 1/\ell^2,\ c_0 = 1,\ c_k = 2$$

    The series is cut and divided by its sum at 0.

    References:
        MATH section 3
    """

    @property
    def hyperparameters(self) -> Mapping[str, tuple[tuple[int, ...], Prior]]:
        """ℓ, in units of the sine."""
        return {"outer_lengthscale": ((), hyperpriors.periodic_lengthscale())}

    def expected(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """From signed differences."""
        total = torch.zeros_like(mean)
        for k, weight in enumerate(_bessel_shares(values["outer_lengthscale"])):
            w = 2.0 * math.pi * k
            total = total + weight * torch.exp(-0.5 * w**2 * variance) * torch.cos(
                w * mean
            )
        return total


class ExposedSpectralMixture(Exposed):
    r"""$\sum_q w_q e^{-2 \pi^2 s_q^2 \Delta^2} \cos(2 \pi m_q \Delta)$.

    Weights sum to 1. The first bandwidth is 1/2π, which fixes the unit of the latent:
    a squared exponential times a cosine.

    $$w_q\, b^{-1/2} \exp\Big(-\frac{4 \pi^2 s^2 \mu^2 + (2 \pi m)^2 v}{2 b}\Big)
      \cos(2 \pi m \mu / b), \qquad b = 1 + 4 \pi^2 s^2 v$$

    Args:
        components: Number of q.

    References:
        MATH section 3, with s² for its σ
    """

    def __init__(self, components: int = 2) -> None:
        self.components = components

    @property
    def hyperparameters(self) -> Mapping[str, tuple[tuple[int, ...], Prior]]:
        """Frequencies; weights and bandwidths over those of the first component."""
        found = {"frequency": ((self.components,), hyperpriors.latent_scale())}
        rest = (self.components - 1,)
        if self.components > 1:
            found["weight"] = (rest, hyperpriors.outputscale())
            found["bandwidth"] = (rest, hyperpriors.outputscale())
        return found

    def expected(
        self, mean: Tensor, variance: Tensor, width: int, values: Mapping[str, Tensor]
    ) -> Tensor:
        """From signed differences."""
        frequencies = values["frequency"].unbind(-1)
        one = torch.ones_like(frequencies[0])
        weights, bandwidths = [one], [one]
        if self.components > 1:
            weights += values["weight"].unbind(-1)
            bandwidths += values["bandwidth"].unbind(-1)
        total = torch.zeros_like(mean)
        for weight, bandwidth, m in zip(weights, bandwidths, frequencies, strict=True):
            squared, w = bandwidth.square(), 2.0 * math.pi * m
            b = 1.0 + squared * variance
            exponent = -0.5 * (squared * mean.square() + w.square() * variance) / b
            wave = b.rsqrt() * exponent.exp() * torch.cos(w * mean / b)
            total = total + weight * wave
        return total / sum(weights)


EXPOSED: Mapping[str, Callable[[], Exposed]] = {
    "rbf": ExposedRBF,
    "matern-1.5": partial(ExposedMatern, 1.5),
    "matern-2.5": partial(ExposedMatern, 2.5),
    "rational-quadratic": ExposedRationalQuadratic,
    "cosine": ExposedCosine,
    "squared-cosine": partial(ExposedCosine, squared=True),
    "periodic": ExposedPeriodic,
    "spectral-mixture": ExposedSpectralMixture,
}
"""Outer layers by name."""


def _bessel_shares(lengthscale: Tensor) -> list[Tensor]:
    r"""$c_k e^{-z} I_k(z)$ for $z = 1/\ell^2$, divided by their sum.

    By ratios $I_k / I_{k-1}$ from the last, as a continued fraction: stable for any z.
    """
    doubled = 2.0 * lengthscale.square()
    ratio = torch.zeros_like(lengthscale)
    ratios = []
    for k in range(HARMONICS, 0, -1):
        ratio = 1.0 / (k * doubled + ratio)
        ratios.append(ratio)
    shares = [torch.ones_like(lengthscale)]
    product = 2.0 * shares[0]
    for ratio in reversed(ratios):
        product = product * ratio
        shares.append(product)
    total = sum(shares)
    return [share / total for share in shares]
