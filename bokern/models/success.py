"""The probability that an evaluation succeeds, learned from successes and failures."""

from __future__ import annotations

import math
from typing import Any

import torch
from botorch.utils.probability.utils import log_ndtr
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.means import ConstantMean
from torch import Tensor, nn

from bokern import hyperpriors
from bokern.errors import DataError
from bokern.fitting import AutogradLogPosterior
from bokern.fitting.map import EvaluationCounter, maximise, search_box
from bokern.inference.propagation import (
    Sites,
    log_evidence,
    predictive_terms,
    propagate,
)
from bokern.kernels import OutputscaleKernel
from bokern.structures import KernelSpace, Structure, as_structure

START = -1.0
"""Where the hyperparameters' optimisation starts, in standard deviations from their
prior mean: from there it found the better of two optima in 12 of 12 cases."""

ITERATIONS = 40
"""Of L-BFGS; nothing is integrated at the optimum, which need not be exact."""


class SuccessGP(nn.Module):
    r"""A Gaussian process behind a probit: $P(\text{success} \mid x) = E\,\Phi(f(x))$.

    The posterior of f is approximated by expectation propagation, its hyperparameters
    are at their MAP. What a failed evaluation would have returned is never guessed.

    Cost: O(n³) to fit, O(n²) a point.

    Args:
        X: ``n x d`` inputs in the unit cube.
        success: ``n`` booleans.
        structure: Of the correlation of f.

    Raises:
        DataError: If the shapes do not match, or inputs are not finite.

    References:
        [GPML] sections 3.6 and 3.9
    """

    X: Tensor
    success: Tensor
    weights: Tensor
    root: Tensor

    def __init__(
        self,
        X: Tensor,
        success: Tensor,
        structure: Structure | str = "Matern(2.5)",
    ) -> None:
        super().__init__()
        X, success = _checked(X, success)
        y = torch.where(success, 1.0, -1.0).to(X)
        names = [f"x{j}" for j in range(X.shape[-1])]
        resolved = as_structure(structure).resolve(names)
        space = KernelSpace(X.shape[-1], ())
        self.covar_module = OutputscaleKernel(
            resolved.correlation(space), hyperpriors.success_outputscale()
        )
        self.mean_module = ConstantMean(constant_prior=hyperpriors.mean())
        self.to(X)
        objective = ProbitLogPosterior(self.mean_module, self.covar_module, X, y)
        mean, sd = objective.prior_moments()
        start = (mean + START * sd).unsqueeze(0)
        box = search_box(objective)
        theta, _ = maximise(EvaluationCounter(objective), start, *box, ITERATIONS)
        objective.set(theta[0])
        with torch.no_grad():
            mean, K, _ = objective.moments(objective.get())
            weights, root = predictive_terms(K, mean, propagate(K, mean, y))
        self.register_buffer("X", X)
        self.register_buffer("success", success)
        self.register_buffer("weights", weights)
        self.register_buffer("root", root)

    def is_of(self, X: Tensor, success: Tensor) -> bool:
        """Whether it was learned from these evaluations."""
        return torch.equal(self.X, X) and torch.equal(self.success, success)

    def latent(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of f at ``... x d`` points, ``...`` each."""
        X = X.to(self.X)
        flat = X.reshape(-1, X.shape[-1])
        k = self.covar_module.forward(flat, self.X)
        mean = self.mean_module(flat) + k @ self.weights
        own = self.covar_module.forward(flat, flat, diag=True)
        variance = own - (k @ self.root.mT).square().sum(-1)
        shape = X.shape[:-1]
        return mean.reshape(shape), variance.clamp_min(0.0).reshape(shape)

    def log_probability(self, X: Tensor) -> Tensor:
        """Log probability of success at ``... x d`` points, ``...``."""
        mean, variance = self.latent(X)
        return log_ndtr(mean / (1.0 + variance).sqrt())


def _checked(X: Tensor, success: Tensor) -> tuple[Tensor, Tensor]:
    """Both, the inputs in float64."""
    if X.dim() != 2 or success.shape != X.shape[:1] or not len(X):
        raise DataError(
            "expected n x d inputs and n booleans, n >= 1, got shapes "
            f"{tuple(X.shape)} and {tuple(success.shape)}"
        )
    if not bool(torch.isfinite(X).all()):
        raise DataError("inputs are expected to be finite: leave out NaN and inf")
    return X.detach().double(), success.to(X.device).bool()


class ProbitLogPosterior(AutogradLogPosterior):
    """A `LogPosterior` of successes and failures, its likelihood by propagation.

    Args:
        mean_module: Of the latent function.
        covar_module: Of the latent function.
        X: ``n x d`` inputs in the unit cube, float64.
        y: ``n`` of ±1.
    """

    def __init__(self, mean_module: Any, covar_module: Any, X: Tensor, y: Tensor):
        # The likelihood has no noise: what its place is filled with is never read.
        unused = FixedNoiseGaussianLikelihood(torch.ones_like(y))
        super().__init__(mean_module, covar_module, unused, X, y)
        self._sites: Sites | None = None

    def on_rows(self, rows: Tensor) -> ProbitLogPosterior:
        """The objective of some rows of the data, over the same modules."""
        terms = self._terms
        return ProbitLogPosterior(
            terms.mean_module, terms.covar_module, self.X[rows], self.z[rows]
        )

    def log_likelihood(self, theta: Tensor) -> Tensor:
        """Approximate ``log P(y | X, θ)``, ``...`` for θ of ``... x k``."""
        mean, K, _ = self.moments(theta)
        near = self._sites
        if near is not None and near.precision.shape != mean.shape:
            near = None
        # An optimiser's θ are close to each other, and so are their sites.
        self._sites = propagate(K, mean, self.z, start=near)
        value = log_evidence(K, mean, self._sites)
        return torch.where(torch.isfinite(value), value, -math.inf)

    def hessian(self, theta: Tensor) -> Tensor:
        """Second derivatives at one θ, ``k x k``: the sites are held in the first."""
        return self._differences(theta)
