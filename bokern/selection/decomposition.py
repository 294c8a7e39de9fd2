r"""The exact posterior of each of the independent functions that a prior adds up.

A prior that is a sum of independent functions stays one after the data: with
$z = m + \sum_i f_i + \varepsilon$, $A = \sum_i K_i + N$ and
$\alpha = A^{-1}(z - m)$,

$$E f_i(x) = K_i(x, X)\,\alpha, \qquad
\mathrm{Cov}(f_i(x), f_j(x')) = \delta_{ij} k_i(x, x') - K_i(x, X) A^{-1} K_j(X, x').$$
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor

from bokern import seeding
from bokern.errors import FitError
from bokern.evidence.data import check_single
from bokern.fitting import LogPosterior
from bokern.models import StructuredGP
from bokern.numerics import cholesky
from bokern.selection.terms import additive_terms

MOST_ROWS = 3000
"""Observations whose covariance is factorised densely: 72 MB each matrix."""


@dataclass(frozen=True)
class Shares:
    r"""Who varies how much over the data: parts of the observed variance of z.

    With $V$ the variance over the n data points (division by n) and expectations
    under the posterior, every draw satisfies $z = m + \sum_i f_i + \varepsilon$
    exactly, hence

    $$V(z - m) = \sum_i E\,V(f_i) + E\,V(\varepsilon) + \text{covariances},$$

    $$E\,V(f_i) = V(E f_i) + \tfrac1n \mathrm{tr}\,\Sigma_i
       - \tfrac1{n^2} 1^T \Sigma_i 1,$$

    $\Sigma_i$ being the posterior covariance of $f_i$ at the data: the spread of its
    mean, plus the average of its variance, less that of its level, which no spread
    sees. All are divided by $V(z - m)$ and add up to 1.

    Args:
        terms: Of each term.
        noise: Of the noise.
        shared: Covariances of all pairs, the noise included; negative where parts
            undo each other.
    """

    terms: tuple[float, ...]
    noise: float
    shared: float


class Decomposition:
    """The additive terms of a fitted model, and their posterior at its data.

    All is in float64 and in the model's own units: inputs in the unit cube, targets
    after the outcome transform. Of more than ``MOST_ROWS`` observations so many are
    drawn at random, and everything is what these tell, at the fitted hyperparameters.

    Attributes:
        rows: Numbers of the observations, ``n``, or None for all.
        terms: The functions that add up.
        X: Inputs, ``n x d``.
        z: Targets, ``n``.
        level: The mean function at X, ``n``.
        noise: Variances of the noise, ``n``.

    Args:
        model: Fitted, of one outcome and no batch.

    Raises:
        EvidenceError: If it has several outcomes or a batch.
        FitError: If the covariance of its data cannot be factorised.
    """

    def __init__(self, model: StructuredGP) -> None:
        check_single(model)
        given = model.log_posterior()
        mean, kernel, likelihood = (
            deepcopy(getattr(model, name)).double()
            for name in ("mean_module", "covar_module", "likelihood")
        )
        objective = LogPosterior(mean, kernel, likelihood, given.X, given.z)
        objective.set(model.theta())
        self.rows = _some_rows(given.z)
        if self.rows is not None:
            objective = objective.on_rows(self.rows)
        self.X, self.z = objective.X, objective.z
        self._mean = mean
        self.terms = tuple(additive_terms(model.structure, kernel))
        with torch.no_grad():
            level, _, noise = objective.moments(objective.get())
            total = torch.diag_embed(noise)
            for term in self.terms:
                total += term.kernel.forward(self.X, self.X)
            self._factor, good = cholesky(total)
        if not bool(good):
            raise FitError(
                "the covariance of the data cannot be factorised at the fitted "
                "hyperparameters: fit the model again before it is taken apart"
            )
        self.level, self.noise = level, noise
        residual = (self.z - level).unsqueeze(-1)
        self._alpha = torch.cholesky_solve(residual, self._factor)

    def posterior(self, term: int, points: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of one term.

        Args:
            term: Its number.
            points: ``m x d``, in the unit cube.

        Returns:
            ``m`` and ``m``, in the model's units.
        """
        kernel = self.terms[term].kernel
        with torch.no_grad():
            cross = kernel.forward(points, self.X)
            white = torch.linalg.solve_triangular(self._factor, cross.T, upper=False)
            prior = kernel.forward(points, points, diag=True)
        return self._mean_of(cross), (prior - white.square().sum(0)).clamp_min(0.0)

    def shape_variance(self, term: int, points: Tensor) -> Tensor:
        """Variance of one term less its average over the data, ``m``.

        The levels of terms that add up can hardly be told apart; this is what is not
        known of a term's shape.

        Args:
            term: Its number.
            points: ``m x d``, in the unit cube.
        """
        kernel = self.terms[term].kernel
        with torch.no_grad():
            cross = kernel.forward(points, self.X)
            level = kernel.forward(self.X, self.X).mean(0)
            prior = kernel.forward(points, points, diag=True)
            prior = prior - 2.0 * cross.mean(-1) + level.mean()
            less = (cross - level).T
            white = torch.linalg.solve_triangular(self._factor, less, upper=False)
        return (prior - white.square().sum(0)).clamp_min(0.0)

    def change(self, term: int, start: Tensor, end: Tensor) -> tuple[float, float]:
        """Mean and standard deviation of f(end) − f(start), for two points of ``d``."""
        kernel = self.terms[term].kernel
        ends = torch.stack([end, start])
        with torch.no_grad():
            cross = kernel.forward(ends, self.X)
            cross = cross[:1] - cross[1:]
            white = torch.linalg.solve_triangular(self._factor, cross.T, upper=False)
            prior = kernel.forward(ends, ends)
        variance = prior[0, 0] - 2.0 * prior[0, 1] + prior[1, 1] - white.square().sum()
        return self._mean_of(cross).item(), variance.clamp_min(0.0).sqrt().item()

    def residual(self) -> Tensor:
        """What the noise is expected to have been at the data, ``n``."""
        return self.noise * self._alpha.squeeze(-1)

    def shares(self) -> Shares:
        """How the observed variance divides among the terms and the noise."""
        total = (self.z - self.level).var(correction=0)
        with torch.no_grad():
            spreads = [
                self._expected_spread(term.kernel.forward(self.X, self.X))
                for term in self.terms
            ]
            spreads.append(self._expected_spread(torch.diag_embed(self.noise)))
        share = torch.stack(spreads) / total
        *terms, noise = share.tolist()
        return Shares(tuple(terms), noise, 1.0 - share.sum().item())

    def _expected_spread(self, K: Tensor) -> Tensor:
        """Posterior expectation of the variance over the data of a part of prior K."""
        n = len(self.z)
        white = torch.linalg.solve_triangular(self._factor, K, upper=False)
        trace = K.diagonal().sum() - white.square().sum()
        level = K.sum() - white.sum(-1).square().sum()
        return self._mean_of(K).var(correction=0) + trace / n - level / n**2

    def _mean_of(self, cross: Tensor) -> Tensor:
        return (cross @ self._alpha).squeeze(-1)


def _some_rows(z: Tensor) -> Tensor | None:
    """Observations drawn at random, in order, if there are too many."""
    n = len(z)
    if n <= MOST_ROWS:
        return None
    generator = seeding.generator("explanation", n)
    return torch.randperm(n, generator=generator)[:MOST_ROWS].sort().values.to(z.device)
