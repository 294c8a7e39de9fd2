r"""Pending points for analytic acquisitions: believe the mean, shrink the variance.

Conditioning a Gaussian process on its own posterior mean at a point leaves the mean
function as it is and lowers the variance around that point. The variance does not
depend on the values observed, so this much of the future is known exactly: with
posterior covariance ``k`` and noise variance ``s`` at the pending points ``P``,

$$\sigma^2(x) = k(x, x) - k(x, P)\,(k(P, P) + s I)^{-1}\, k(P, x).$$
"""

from __future__ import annotations

import torch
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.posteriors import GPyTorchPosterior
from torch import Tensor

from bokern.errors import SpaceError
from bokern.numerics import cholesky


class HallucinatedPending(AnalyticAcquisitionFunction):
    """An analytic acquisition whose moments are those after the pending points.

    To be inherited before a BoTorch analytic acquisition that asks for its moments
    through ``_mean_and_sigma``. Members of an ensemble are treated each by itself, and
    their weights stay as they are: a hallucination is no evidence.

    Valid for: Gaussian posteriors with one output, after the posterior transform.
    Cost: one joint posterior over the candidate and the pending points.

    References:
        [GP-BUCB] section 3.2, eq. 7.
    """

    X_pending: Tensor | None = None  # type: ignore[assignment]

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:  # noqa: N802
        """Declares points that are being evaluated.

        Args:
            X_pending: ``p x d``, in the units of the model's inputs, or None.
        """
        self.X_pending = None
        if X_pending is None or X_pending.shape[-2] == 0:
            return
        X_pending = X_pending.detach().clone()
        with torch.no_grad():
            quiet = self._gaussian(X_pending, noise=False)
            noisy = self._gaussian(X_pending, noise=True)
        self._pending_noise = (noisy.variance - quiet.variance).squeeze(-1).clamp_min(0)
        self.X_pending = X_pending

    def _gaussian(self, X: Tensor, noise: bool) -> GPyTorchPosterior:
        try:
            posterior = self.model.posterior(
                X, observation_noise=noise, posterior_transform=self.posterior_transform
            )
        except NotImplementedError as error:
            raise self._not_gaussian(str(error)) from error
        if not isinstance(posterior, GPyTorchPosterior):
            raise self._not_gaussian(f"got {type(posterior).__name__}")
        return posterior

    def _not_gaussian(self, why: str) -> SpaceError:
        return SpaceError(
            f"{type(self).__name__} needs a Gaussian posterior: use an outcome "
            "transform that is linear, such as Standardize, or a Monte Carlo "
            f"acquisition ({why})"
        )

    def _mean_and_sigma(
        self, X: Tensor, compute_sigma: bool = True, min_var: float = 1e-12
    ) -> tuple[Tensor, Tensor | None]:
        if self.X_pending is None or not compute_sigma:
            try:
                return super()._mean_and_sigma(X, compute_sigma, min_var)
            except NotImplementedError as error:
                raise self._not_gaussian(str(error)) from error
        self.to(X)
        pending = self.X_pending.to(X).expand(*X.shape[:-2], *self.X_pending.shape)
        joint = self._gaussian(torch.cat([X, pending], dim=-2), noise=False)
        K = joint.distribution.covariance_matrix
        noise = torch.diag_embed(self._pending_noise.to(K))
        L, _ = cholesky(K[..., 1:, 1:] + noise)
        root = torch.linalg.solve_triangular(L, K[..., 1:, :1], upper=False)
        variance = K[..., 0, :1] - root.square().sum(-2)
        return joint.mean[..., 0, :], variance.clamp_min(min_var).sqrt()
