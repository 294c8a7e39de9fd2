"""The exact Gaussian process of a kernel of finitely many features, in O(n)."""

from __future__ import annotations

import math
from typing import Any, Self

import torch
from linear_operator import LinearOperator, to_linear_operator
from torch import Tensor

from bokern.errors import StructureError
from bokern.fitting import LogPosterior
from bokern.inference.weights import WeightPosterior
from bokern.kernels import StructureKernel
from bokern.models.direct import DirectGP
from bokern.models.weight_objective import by_weights, chunk_rows
from bokern.structures import KernelSpace, SparseSpectrum, Structure, as_structure

JITTER = 1e-6
"""Share of the mean variance that is added to the diagonal of joint covariances of
several points: they have the rank of the features at most, and samplers factorise
them."""

FEW_FEATURES, MAX_FEATURES = 2048, 8192
"""As many take a fraction of a second to factorise; and half a gigabyte."""


class WeightSpaceGP(DirectGP):
    r"""A `StructuredGP` of a kernel of F features, by the posterior of their weights.

    The same model as a `StructuredGP` of the same structure, to rounding:
    $f(x) = m(x) + \varphi(x)^T w$, $w \sim N(0, I)$. The data enter by sums over rows,
    so that time goes by n and memory does not; where there are fewer rows than
    features, evidence comes from the rows. Conditioning and fantasies add a matrix of
    low rank to what was factorised. A draw of the weights is a whole function:
    `draw_matheron_paths` of BoTorch draws from the exact posterior.

    Everything that `DirectGP` promises holds.

    Cost: O(n F² + F³) for a likelihood, O(F²) for a prediction, O(F² q) for
    conditioning on q points.

    Raises:
        StructureError: If a part of the structure has no features.

    References:
        [SSGP]; [SSWIM]; MATH section 1
    """

    @classmethod
    def check_kernel(cls, kernel: StructureKernel, structure: Structure) -> None:
        """Refuses a kernel without features.

        Raises:
            StructureError: Of what kinds of structures have them; if it has too many.
        """
        if (kernel.num_features or 0) > MAX_FEATURES:
            raise StructureError(
                f"WeightSpaceGP expects at most {MAX_FEATURES} features, and "
                f"{structure} has {kernel.num_features}: give it fewer frequencies, of "
                "which a product multiplies those of its parts, or use StructuredGP"
            )
        if kernel.num_features is None:
            raise StructureError(
                "WeightSpaceGP expects structures made of SparseSpectrum, SSWIM and "
                f"Linear, got {structure}: use StructuredGP"
            )

    def log_posterior(self, use_prior: bool = True) -> LogPosterior:
        """The objective of this model; see `StructuredGP.log_posterior`."""
        return by_weights(super().log_posterior(use_prior))

    def log_posteriors(self, use_prior: bool = True) -> list[LogPosterior]:
        """One objective for each batch element and outcome, over copies of modules."""
        return [by_weights(p) for p in super().log_posteriors(use_prior)]

    def learn(self) -> WeightPosterior:
        """The posterior of the weights at the present hyperparameters."""
        X, z = self.train_inputs[0], self.train_targets
        F, lead = self.covar_module.num_features, z.shape[:-1]
        assert F is not None
        gram = z.new_zeros(*lead, F, F, dtype=torch.float64)
        cross = z.new_zeros(*lead, F, dtype=torch.float64)
        noise = self.likelihood.noise
        noise = noise.expand(*noise.shape[:-1], z.shape[-1])
        step = chunk_rows(self.covar_module, math.prod(lead), X.device.type)
        with torch.no_grad():
            for start in range(0, z.shape[-1], step):
                part = slice(start, start + step)
                rows, targets = self._rows(
                    X[..., part, :], z[..., part], noise[..., part]
                )
                gram += rows.mT @ rows
                cross += (rows.mT @ targets.unsqueeze(-1)).squeeze(-1)
        return WeightPosterior.of(gram, cross)

    def predict(
        self, learned: WeightPosterior, X: Tensor
    ) -> tuple[Tensor, LinearOperator]:
        """Posterior mean less the prior's, and covariance, at points of the cube."""
        mean, covariance = learned.predict(self.covar_module.features(X.double()))
        if X.shape[-2] > 1:
            variance = covariance.diagonal(dim1=-2, dim2=-1)
            share = JITTER * variance.mean(-1, keepdim=True)
            covariance = covariance + torch.diag_embed(share.expand_as(variance))
        return mean, to_linear_operator(covariance.to(X))

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Self:
        """The same hyperparameters with further data; see `condition_on_observations`.

        Args:
            inputs: ``b x n' x d``, or what broadcasts to it.
            targets: ``f x b x n'``.
            **kwargs: ``noise``, variances of the targets, where it is known.
        """
        learned = self.prediction_strategy
        if learned is None:
            learned = self.learn()
        new = super().get_fantasy_model(inputs, targets, **kwargs)
        noise = new.likelihood.noise
        if noise.shape[-1] > 1:
            noise = noise[..., -inputs.shape[-2] :]
        new.prediction_strategy = learned.updated(*self._rows(inputs, targets, noise))
        return new

    def _rows(self, X: Tensor, z: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Features and residuals in standard deviations of the noise."""
        scale = noise.double().rsqrt()
        residual = (z - self.mean_module(X)).double() * scale
        return self.covar_module.features(X.double()) * scale.unsqueeze(-1), residual


def has_weights(structure: Structure | str, dim: int, n: int = 0) -> bool:
    """Whether `WeightSpaceGP` is made for a structure.

    One of waves, of which there are few, or fewer than rows.

    Args:
        structure: Its columns by number.
        dim: Number of columns.
        n: Number of observations.
    """
    resolved = as_structure(structure)
    if not any(isinstance(node, SparseSpectrum) for node in resolved.nodes()):
        return False
    count = resolved.kernel(KernelSpace(dim)).num_features
    return count is not None and count <= min(max(n, FEW_FEATURES), MAX_FEATURES)
