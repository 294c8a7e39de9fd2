"""Deep Gaussian processes with hyperdata, by the moments of their prior."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from bokern import hyperpriors
from bokern.kernels.base import Columns, StructureKernel, WrapperKernel
from bokern.kernels.deep import ZeroMeanDeepKernel
from bokern.kernels.exposed import Exposed
from bokern.kernels.hyperdata import Hyperdata
from bokern.kernels.stationary import StationaryKernel
from bokern.numerics import cholesky, paired_squared_distance, squared_distance

MANY_PLACES = 20
"""From so many hyperdata of one column on, starts are advised."""

ADVISED_SCALE, ADVISED_LENGTHSCALES = 3.0, (0.01, 0.02, 0.04)
"""σ₁ and ℓ₁ of these. Drawn hyperdata hide what a short ℓ₁ is worth: of 50, on monthly
CO2, a fit from the best of 512 draws ends at a log posterior of 302, from these at 528,
521 and 451."""

JITTER = {torch.float64: 1e-8, torch.float32: 1e-5}
"""τ², by which the latents may miss the hyperdata, in units of their variance."""


class ConditionalDeepKernel(WrapperKernel):
    r"""The second moment of an outer function of H latent GPs that pass hyperdata.

    Latents are $f_h \sim GP(\mu_h, \sigma_1^2 k_1)$ given $f(Z) = u$. With the
    correlation $k_1$ of the base and $L L^\top = k_1(Z, Z) + \tau^2$,
    $A = k_1(X, Z) L^{-\top}$:

    $$m = \mu(X) + A\, L^{-1} (u - \mu(Z)), \qquad
      v_{ij} = \sigma_1^2 \big(2 (1 - k_1(x_i, x_j)) - |A_i - A_j|^2\big)$$

    and the kernel is what the outer layer expects of a difference of mean $m_i - m_j$
    and variance $v_{ij}$. The mean μ is zero, or the inputs over lengthscales of their
    own, one latent a column: then it is the outer layer alone at $u = \mu(Z)$ and
    $\sigma_1 \to 0$.

    A base that is such a kernel itself makes three layers, and so on: its second moment
    is taken for that of a Gaussian process. Against the law of three squared
    exponentials of variance 1 in their layers that errs by up to .003, .018 and .088 at
    $\sigma_1$ = .1, .3 and 1 with mean zero, by .001, .089 and .26 with the identity.

    Reduces to: ZeroMeanDeepKernel without hyperdata, with mean zero, an RBF base and an
    RBF outer layer.
    Valid for: any base of variance 1; PSD as the second moment of a process.
    Cost: O(n m (J + H)) and that of the base.

    Args:
        base_kernel: $k_1$, of variance 1 everywhere.
        exposed: The outer layer.
        hyperdata: Where the latents are given and what they are there; None for a
            layer without.
        columns: Read by the identity mean.
        identity: Whether the mean is the identity, rather than zero.
        width: Number H of latents with mean zero; the identity has one a column.

    References:
        [CDGP] eq. 11 to 13; [Moments]; MATH section 3
    """

    def __init__(
        self,
        base_kernel: StructureKernel,
        exposed: Exposed,
        hyperdata: Hyperdata | None,
        columns: Columns,
        identity: bool = True,
        width: int = 1,
    ) -> None:
        super().__init__(base_kernel)
        self.exposed = exposed
        self.columns = columns
        self.identity = identity
        self.width = columns.size if identity else width
        self.hyperdata = hyperdata
        for kernel in base_kernel.modules():
            if isinstance(kernel, StationaryKernel):
                size = kernel.columns.size
                prior = hyperpriors.latent_lengthscale(size)
                kernel.believe_lengthscale(prior, 0.3 * math.sqrt(size))
        self.register_hyperparameter("latent_scale", (), hyperpriors.latent_scale())
        if identity:
            prior = hyperpriors.mean_lengthscale(columns.size)
            slots = (1, columns.num_slots)
            self.register_hyperparameter("mean_lengthscale", slots, prior)
            initial = 0.3 * math.sqrt(columns.size)
            self.initialize_hyperparameter("mean_lengthscale", initial)
        outer = exposed.hyperparameters
        self._outer_dims = {name: len(shape) for name, (shape, _) in outer.items()}
        for name, (shape, prior) in outer.items():
            self.register_hyperparameter(name, shape, prior)
        if hyperdata is not None:
            for name, shape in hyperdata.hyperparameters.items():
                prior = hyperpriors.hyperdatum()
                self.register_hyperparameter(name, shape, prior, positive=False)

    @property
    def is_stationary(self) -> bool:
        """Whether the base is and nothing is given anywhere."""
        return self.hyperdata is None and self.base_kernel.is_stationary

    @property
    def is_moment_matched(self) -> bool:
        """Whether the base is deep itself, and taken for a Gaussian process."""
        deep = ConditionalDeepKernel | ZeroMeanDeepKernel
        return any(isinstance(kernel, deep) for kernel in self.base_kernel.modules())

    @property
    def latent_scale(self) -> Tensor:
        """Standard deviation σ₁ of the latents, in units of the outer layer's."""
        return self.hyperparameter("latent_scale")

    def advised_starts(self) -> list[dict[str, float]]:
        """Hidden functions that vary fast and by much, all of them at their means.

        They are where a series is not smooth at the scale of the places.
        """
        given, base = self.hyperdata, self.base_kernel
        many = given is not None and len(given.places) >= MANY_PLACES
        if not many or self.columns.size > 1 or not isinstance(base, StationaryKernel):
            return []
        fixed = {"raw_latent_scale": math.log(ADVISED_SCALE)}
        if self.identity:
            fixed["raw_mean_lengthscale"] = 0.0
        return [
            fixed | {"base_kernel.raw_lengthscale": math.log(ell)}
            for ell in ADVISED_LENGTHSCALES
        ]

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Correlations."""
        return self.exposed.expected(*self._difference(x1, x2, diag))

    def complement(self, x1: Tensor, x2: Tensor, diag: bool = False) -> Tensor:
        """One minus the correlation, as exactly as the outer layer has it."""
        return self.exposed.complement(*self._difference(x1, x2, diag))

    def fourth_moment(self, x1: Tensor, x2: Tensor) -> Tensor | None:
        r"""$E f(x)^2 f(x')^2$ of row i with row i, ``... x n``, of the deep process.

        A Gaussian process of the same covariance has $1 + 2 k(x, x')^2$. None where the
        outer layer has no closed form.

        References:
            MATH section 3
        """
        squared = self.exposed.expected_square(*self._difference(x1, x2, True))
        return None if squared is None else 1.0 + 2.0 * squared

    def latent(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean, ``... x n x H``, and variance, ``... x n``, of the latents at x.

        In units of the outer lengthscale.
        """
        mean, weights = self._given(x)
        scale = self.latent_scale[..., None]
        left = (1.0 - weights.square().sum(-1)).clamp_min(0.0)
        return mean, scale.square() * left.expand(mean.shape[:-1])

    def _difference(
        self, x1: Tensor, x2: Tensor, diag: bool
    ) -> tuple[Tensor, Tensor, int, dict[str, Tensor]]:
        """What the outer layer takes, of all pairs or of row i with row i."""
        apart = paired_squared_distance if diag else squared_distance
        mean1, weights1 = self._given(x1)
        mean2, weights2 = (mean1, weights1) if x2 is x1 else self._given(x2)
        lost = apart(weights1, weights2)
        relative = 2.0 * self.base_kernel.complement(x1, x2, diag=diag) - lost
        tail = (1,) if diag else (1, 1)
        scale = self._over_points(self.latent_scale, tail)
        variance = scale.square() * relative.clamp_min(0.0)
        if self.exposed.is_radial:
            mean = apart(mean1, mean2)
        elif diag:
            mean = (mean1 - mean2).squeeze(-1)
        else:
            mean = mean1 - mean2.mT
        values = {
            name: self._over_points(self.hyperparameter(name), tail, dims)
            for name, dims in self._outer_dims.items()
        }
        mean, variance = torch.broadcast_tensors(mean, variance)
        return mean, variance, self.width, values

    def _given(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Latent means, ``... x n x H``, and weights A, ``... x n x J``."""
        if self.identity:
            lengthscale = self.columns.spread(self.hyperparameter("mean_lengthscale"))
            mean = self.columns.select(x) / lengthscale
        else:
            mean = x.new_zeros(*x.shape[:-1], self.width)
        if self.hyperdata is None:
            return mean, x.new_zeros(*x.shape[:-1], 0)
        places = self.hyperdata.places.to(x)
        among = self.base_kernel.forward(places, places)
        eye = torch.eye(len(places), dtype=x.dtype, device=x.device)
        factor, _ = cholesky(among + JITTER[x.dtype] * eye)
        across = self.base_kernel.forward(places, x)
        shape = torch.broadcast_shapes(factor.shape[:-2], across.shape[:-2])
        factor = factor.expand(*shape, *factor.shape[-2:])
        across = across.expand(*shape, *across.shape[-2:])
        weights = torch.linalg.solve_triangular(factor, across, upper=False).mT
        values = {name: self.hyperparameter(name) for name in self._learned}
        given = self.hyperdata.whitened(factor, values)
        scale = self.latent_scale[..., None, None]
        return mean + scale * (weights @ given), weights

    @property
    def _learned(self) -> list[str]:
        return [] if self.hyperdata is None else list(self.hyperdata.hyperparameters)

    def _over_points(
        self, value: Tensor, tail: tuple[int, ...], own: int = 0
    ) -> Tensor:
        """A hyperparameter with dimensions for the points, before its own ones."""
        at = value.dim() - own
        return value.reshape(*value.shape[:at], *tail, *value.shape[at:])
