"""The log posterior of kernels of F features, in O(n F²) time and O(F²) memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from bokern.fitting import LogPosterior, check_time
from bokern.fitting.log_posterior import EXPLORED_ROWS
from bokern.kernels import StructureKernel
from bokern.numerics import LOG_2PI, cholesky

CHUNK_ENTRIES = {"cpu": 2**21, "cuda": 2**25}
"""Features of rows that are held at a time."""

THINNED_ROWS = 4000
ITERATED_WORK, LEAST_ITERATIONS = 2**38, 8
"""Multiplications of all evaluations of an optimisation, and how many there are at
least: 35 of 30,000 rows and 512 features, a second each."""

NEWTON_WORK = 2**29
"""Multiplications of a Hessian by differences, a second of them."""


class Sums(NamedTuple):
    """What the likelihood needs of the data: rows are divided by the noise's sd."""

    gram: Tensor
    """``Φᵀ Φ``, ``... x F x F``."""
    cross: Tensor
    """``Φᵀ r``, ``... x F``, of residuals r."""
    square: Tensor
    """``rᵀ r``, ``...``."""


class WeightLogPosterior(LogPosterior):
    r"""A `LogPosterior` by way of the weights of features.

    $$\log p(z) = -\tfrac12 \big[ r^T r - |L^{-1} \Phi^T r|^2 + \log |B|
      + \textstyle\sum_i \log \sigma_i^2 + n \log 2\pi \big],
      \qquad B = I + \Phi^T \Phi = L L^T,$$

    rows being divided by the noise's standard deviations $\sigma_i$. The same numbers
    up to rounding as from the dense covariance. The data enter by sums over rows, which
    are gathered in chunks, once for the value and once more for the gradient.

    Args:
        dense: The objective, of a kernel with features.

    References:
        [SSGP]; [SSWIM] eq. 20, whose counts are of features and data; MATH section 1
    """

    def __init__(self, dense: LogPosterior) -> None:
        self.__dict__.update(dense.__dict__)
        count = dense._terms.covar_module.num_features
        assert count is not None
        self.num_features = count

    @property
    def entries(self) -> int:
        """The matrix of the features and a chunk of rows."""
        return self.num_features * max(self.num_features, self._rows(1))

    @property
    def work(self) -> int:
        """In entries of a matrix that take as long as those of the features'."""
        return self.num_data * self._terms.covar_module.row_size

    @property
    def explored_rows(self) -> int:
        """A few hundred: what they lead to is near enough to go on from."""
        return EXPLORED_ROWS

    @property
    def affordable(self) -> int:
        """As many as take a minute."""
        each = self.num_data * self.num_features**2
        return min(super().affordable, max(LEAST_ITERATIONS, ITERATED_WORK // each))

    def thinned(self, generator: torch.Generator) -> LogPosterior | None:
        """Of some thousand of more rows than twice as many."""
        if self.num_data <= 2 * THINNED_ROWS:
            return None
        rows = torch.randperm(self.num_data, generator=generator)[:THINNED_ROWS]
        return self.on_rows(rows.to(self.z.device))

    @property
    def newton_pays(self) -> bool:  # type: ignore[override]
        """Not with many pseudo-targets and rows."""
        return self.dim * self.num_data * self.num_features**2 <= NEWTON_WORK

    def on_rows(self, rows: Tensor) -> LogPosterior:
        """The objective of some rows of the data, over the same modules."""
        return by_weights(super().on_rows(rows))

    def log_likelihood(self, theta: Tensor) -> Tensor:
        """``log p(z | X, θ)``, ``...`` for θ of ``... x k``; −inf where it fails."""
        usable = torch.isfinite(theta).all(-1)
        theta = torch.where(usable.unsqueeze(-1), theta, 0.0)
        mean, noise = self._mean_and_noise(theta)
        sums = self._sums(theta, (self.z - mean), noise.rsqrt())
        L, good = _factor(sums.gram)
        half = torch.linalg.solve_triangular(L, sums.cross.unsqueeze(-1), upper=False)
        value = self._value(sums, L, half.square().sum((-2, -1)), noise)
        good = good & usable & torch.isfinite(value)
        return torch.where(good, value, -torch.inf)

    def value_and_gradient(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The objective and its gradient, features of a chunk of rows at a time."""
        theta = theta.detach()
        usable = torch.isfinite(theta).all(-1)
        theta = torch.where(usable.unsqueeze(-1), theta, 0.0).requires_grad_(True)
        with torch.enable_grad():
            mean, noise = self._mean_and_noise(theta)
            prior = self.log_prior(theta) if self.use_prior else theta.sum(-1) * 0.0
        with torch.no_grad():
            residual, scale = self.z - mean, noise.rsqrt()
            sums = self._sums(theta, residual, scale)
            L, good = _factor(sums.gram)
            weights = torch.cholesky_solve(sums.cross.unsqueeze(-1), L)
            weights = weights.squeeze(-1)
            fitted = (weights * sums.cross).sum(-1)
            value = self._value(sums, L, fitted, noise) + prior
            good = good & usable & torch.isfinite(value)
            slope = torch.cholesky_inverse(L)
            slope += weights.unsqueeze(-1) * weights.unsqueeze(-2)
            # In the scaled features −Φ (B⁻¹ + w wᵀ) + r wᵀ, in the residuals Φ w − r.
        total = torch.zeros_like(theta)
        dmean, dscale = torch.zeros_like(residual), torch.zeros_like(residual)
        for rows in self._chunks(theta):
            with torch.enable_grad():
                features = self._features(theta, rows)
            with torch.no_grad():
                s = scale[..., rows].unsqueeze(-1)
                scaled = features * s
                r = residual[..., rows].unsqueeze(-1)
                left = (scaled @ weights.unsqueeze(-1)) - r * s
                dfeatures = r * s * weights.unsqueeze(-2) - scaled @ slope
                dscale[..., rows] = (dfeatures * features).sum(-1)
                dscale[..., rows] += (left * r).squeeze(-1)
                dmean[..., rows] = -(left * s).squeeze(-1)
            if features.requires_grad:
                total += torch.autograd.grad(features, theta, dfeatures * s)[0]
        dnoise = -0.5 / noise.detach() - 0.5 * dscale * scale**3
        pairs = ((mean, dmean), (noise, dnoise), (prior, torch.ones_like(prior)))
        live = [(out, grad) for out, grad in pairs if out.requires_grad]
        total += torch.autograd.grad([o for o, _ in live], theta, [g for _, g in live])[
            0
        ]
        value = torch.where(good, value.detach(), -torch.inf)
        return value, torch.where(good[..., None], total, 0.0).nan_to_num()

    def inverse_terms(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """α = K⁻¹ (z − m) and the diagonal of K⁻¹, noise included, ``... x n`` each."""
        with torch.no_grad():
            mean, noise = self._mean_and_noise(theta)
            residual, scale = self.z - mean, noise.rsqrt()
            sums = self._sums(theta, residual, scale)
            L, _ = _factor(sums.gram)
            weights = torch.cholesky_solve(sums.cross.unsqueeze(-1), L)
            alpha, inverse = torch.empty_like(residual), torch.empty_like(residual)
            for rows in self._chunks(theta):
                s = scale[..., rows]
                scaled = self._features(theta, rows) * s.unsqueeze(-1)
                half = torch.linalg.solve_triangular(L, scaled.mT, upper=False)
                left = residual[..., rows] * s - (scaled @ weights).squeeze(-1)
                alpha[..., rows] = left * s
                inverse[..., rows] = s.square() * (1.0 - half.square().sum(-2))
        return alpha, inverse

    # -- inside ------------------------------------------------------------------

    def _value(self, sums: Sums, L: Tensor, fitted: Tensor, noise: Tensor) -> Tensor:
        logdet = 2.0 * L.diagonal(dim1=-2, dim2=-1).log().sum(-1) + noise.log().sum(-1)
        return -0.5 * (sums.square - fitted + logdet + self.num_data * LOG_2PI)

    def _sums(self, theta: Tensor, residual: Tensor, scale: Tensor) -> Sums:
        F, lead = self.num_features, theta.shape[:-1]
        gram, cross = theta.new_zeros(*lead, F, F), theta.new_zeros(*lead, F)
        r = residual * scale
        for rows in self._chunks(theta):
            scaled = self._features(theta, rows) * scale[..., rows].unsqueeze(-1)
            gram = gram + scaled.mT @ scaled
            cross = cross + (scaled.mT @ r[..., rows].unsqueeze(-1)).squeeze(-1)
        return Sums(gram, cross, r.square().sum(-1))

    def _features(self, theta: Tensor, rows: slice) -> Tensor:
        check_time()
        raw, X = self._unpack(theta), self.X[..., rows, :]
        found = self._terms.at(raw, lambda t: t.covar_module.features(X))
        return found.expand(*theta.shape[:-1], *found.shape[-2:])

    def _chunks(self, theta: Tensor) -> Iterator[slice]:
        step = self._rows(math.prod(theta.shape[:-1]))
        for start in range(0, self.num_data, step):
            yield slice(start, min(start + step, self.num_data))

    def _rows(self, batch: int) -> int:
        kernel, device = self._terms.covar_module, self.X.device.type
        return min(self.num_data, chunk_rows(kernel, batch, device))


def chunk_rows(kernel: StructureKernel, batch: int, device: str) -> int:
    """Rows whose features are held at a time; a mean over views holds those of each."""
    assert kernel.num_features is not None
    each = max(1, batch) * math.isqrt(kernel.entries) * kernel.row_size
    return max(1, CHUNK_ENTRIES.get(device, CHUNK_ENTRIES["cuda"]) // each)


def by_weights(dense: LogPosterior) -> LogPosterior:
    """The same objective by weights if they are fewer than the observations."""
    count = dense._terms.covar_module.num_features
    if count is None or count >= dense.num_data:
        return dense
    return WeightLogPosterior(dense)


def _factor(gram: Tensor) -> tuple[Tensor, Tensor]:
    """Cholesky factor of I + Φᵀ Φ, and whether there is one."""
    eye = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    return cholesky(gram + eye)
