"""Log expected improvement, in closed form until points are pending."""

from __future__ import annotations

import math

import torch
from botorch.acquisition.analytic import LogExpectedImprovement, _log_ei_helper
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.utils.transforms import t_batch_mode_transform
from torch import Size, Tensor
from torch.linalg import solve_triangular

from bokern.acquisition.pending import HallucinatedPending
from bokern.numerics import cholesky

SAMPLES = 256
"""Quasi-random samples of the values at the pending points."""

LEAST_VARIANCE = 1e-12


class LogEI(HallucinatedPending, LogExpectedImprovement):
    r"""Log expected improvement of one candidate, whether or not points are pending.

    With nothing pending it has a closed form. With pending points P it is what the
    candidate adds to them,

    $$F(x) = \log E_{f_P}\, E\big[(f(x) - \max(f^*, f_P))_+ \mid f_P\big],$$

    the inner expectation in closed form, the outer one by quasi-Monte Carlo: a
    candidate gains nothing near a pending point, and what the pending points gain is
    not counted as its own.

    Reduces to: BoTorch's ``LogExpectedImprovement`` when nothing is pending; otherwise
    its value plus what the pending points gain is that of ``qLogExpectedImprovement``.
    Cost: one posterior a call, joint over the candidate and the pending points.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        best_f: Best observed value, after the posterior transform.
        posterior_transform: Turns the posterior into the one to be maximised.
        X_pending: ``p x d`` points under evaluation.
        seed: Seed of the samples; drawn from PyTorch's global generator if None.
    """

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(model, best_f=best_f, posterior_transform=posterior_transform)
        self._sampler = SobolQMCNormalSampler(Size([SAMPLES]), seed=seed)
        self.set_X_pending(X_pending)

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:  # noqa: N802
        """Declares points that are being evaluated.

        Args:
            X_pending: ``p x d``, in the units of the model's inputs, or None.
        """
        super().set_X_pending(X_pending)
        if self.X_pending is None:
            return
        with torch.no_grad():
            posterior = self._gaussian(self.X_pending, noise=False)
            mean = posterior.mean.squeeze(-1)
            self._root, _ = cholesky(posterior.distribution.covariance_matrix)
            # samples x ... x p, then ... x p x samples
            draws = self._sampler(posterior).squeeze(-1).movedim(0, -1)
            residual = draws - mean.unsqueeze(-1)
            self._weights = torch.cholesky_solve(residual, self._root)
            best = torch.as_tensor(self.best_f).to(draws)
            self._best = draws.amax(-2).maximum(best.unsqueeze(-1))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values.
        """
        if self.X_pending is None:
            return super().forward(X)
        pending = self.X_pending.to(X).expand(*X.shape[:-2], *self.X_pending.shape)
        joint = self._gaussian(torch.cat([X, pending], dim=-2), noise=False)
        K = joint.distribution.covariance_matrix
        cross = K[..., :1, 1:]
        # ... x samples, the candidate's mean given values at the pending points
        mean = joint.mean[..., :1, 0] + (cross @ self._weights).squeeze(-2)
        lost = solve_triangular(self._root, cross.mT, upper=False).square().sum(-2)
        sigma = (K[..., 0, :1] - lost).clamp_min(LEAST_VARIANCE).sqrt()
        value = _log_ei_helper((mean - self._best) / sigma) + sigma.log()
        value = value.flatten(X.dim() - 2)
        return value.logsumexp(-1) - math.log(value.shape[-1])
