"""The curvature of a log posterior at its optimum, and draws of the Gaussian there."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bokern.errors import EvidenceError
from bokern.fitting.log_posterior import LogPosterior


@dataclass(frozen=True)
class Curvature:
    r"""The negative Hessian H of a log posterior in units of its prior's, Π.

    Args:
        theta: Where, ``k``.
        root: Lower Cholesky factor L of Π, ``k x k``.
        eigenvalues: Of ``L⁻¹ H L⁻ᵀ``, ascending, ``k``: 1 where the data say nothing,
            and none is negative at an optimum.
        vectors: Its eigenvectors as columns, ``k x k``.
    """

    theta: Tensor
    root: Tensor
    eigenvalues: Tensor
    vectors: Tensor

    @classmethod
    def at(cls, objective: LogPosterior, theta: Tensor) -> Curvature:
        """The curvature at a maximum, or near it.

        Args:
            objective: With its prior.
            theta: ``k``.

        Raises:
            EvidenceError: If the prior's curvature is not positive, or the Hessian not
                finite.
        """
        H = -objective.hessian(theta)
        L, info = torch.linalg.cholesky_ex(-objective.prior_hessian(theta))
        if int(info) or not bool(torch.isfinite(H).all()):
            raise EvidenceError(
                "the curvature at the fitted hyperparameters cannot be used: priors "
                "are expected log-concave in unconstrained coordinates, and the "
                "likelihood finite around the optimum; use the default priors, or fit "
                "again"
            )
        half = torch.linalg.solve_triangular(L, H, upper=False)
        W = torch.linalg.solve_triangular(L, half.mT, upper=False)
        return cls(theta, L, *torch.linalg.eigh(0.5 * (W + W.mT)))

    @property
    def log_det(self) -> float:
        """``log |H|``; eigenvalues that are not positive count as 1."""
        usable = torch.where(self.eigenvalues > 0, self.eigenvalues, 1.0)
        own = 2.0 * self.root.diagonal().log().sum() + usable.log().sum()
        return own.item()

    def draw(self, count: int, seed: int) -> Tensor:
        r"""Draws of θ from ``N(θ̂, H⁻¹)``, in no direction wider than under the prior.

        Args:
            count: How many.
            seed: Of the scrambled Sobol sequence that they come from.

        Returns:
            ``count x k``.
        """
        k = len(self.theta)
        engine = torch.quasirandom.SobolEngine(k, scramble=True, seed=seed)
        uniform = engine.draw(count, dtype=torch.float64).clamp(1e-6, 1.0 - 1e-6)
        normal = torch.special.ndtri(uniform).to(self.theta)
        whitened = (normal / self.eigenvalues.clamp_min(1.0).sqrt()) @ self.vectors.mT
        step = torch.linalg.solve_triangular(self.root.mT, whitened.mT, upper=True)
        return self.theta + step.mT
