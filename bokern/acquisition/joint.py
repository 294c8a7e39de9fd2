"""Acquisitions of what an observation tells about points that fill the box."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor, cat, diag_embed
from torch.linalg import solve_triangular

from bokern.acquisition.pending import HallucinatedPending
from bokern.numerics import cholesky

LEAST_VARIANCE = 1e-12


@dataclass(frozen=True)
class JointMoments:
    """Posterior moments of ``n`` candidates and ``N`` points.

    Args:
        mean: ``... x n`` means of the candidates.
        mean_points: ``... x N`` means of the points.
        cross: ``... x n x N`` covariances.
        own: ``... x n`` variances of the candidates.
        spread: ``... x n`` standard deviations of their observations, noise included.
    """

    mean: Tensor
    mean_points: Tensor
    cross: Tensor
    own: Tensor
    spread: Tensor


class OverPoints(HallucinatedPending, AnalyticAcquisitionFunction):
    """What an observation at a candidate is worth, judged at points that fill the box.

    Pending points count as observed. The value of an ensemble is the mean of its
    members'.

    Cost: one joint posterior of all candidates and points a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        points: ``N x d``, in the units of the model's inputs.
        posterior_transform: Turns the posterior into the one that counts.
        X_pending: ``p x d`` points under evaluation.
    """

    points: Tensor

    def __init__(
        self,
        model: Model,
        points: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
    ) -> None:
        super().__init__(model=model, posterior_transform=posterior_transform)
        self.register_buffer("points", points)
        self.set_X_pending(X_pending)

    @abstractmethod
    def gain(self, moments: JointMoments) -> Tensor:
        """The value of each of ``n`` candidates, ``... x n`` for members ``...``."""

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values.
        """
        candidates = X.reshape(-1, X.shape[-1])
        gain = self.gain(self.moments(candidates))
        return gain.reshape(-1, len(candidates)).mean(0).reshape(X.shape[:-2])

    def moments(self, candidates: Tensor) -> JointMoments:
        """Those of ``n x d`` candidates and the points, after what is pending."""
        points = self.points.to(candidates)
        n, N = len(candidates), len(points)
        parts = [candidates, points]
        if self.X_pending is not None:
            parts.append(self.X_pending.to(candidates))
        posterior = self._gaussian(cat(parts), noise=False)
        K = posterior.distribution.covariance_matrix
        mean = posterior.mean.squeeze(-1)
        if self.X_pending is not None:
            noise = diag_embed(self._pending_noise.to(K))
            L, _ = cholesky(K[..., n + N :, n + N :] + noise)
            root = solve_triangular(L, K[..., n + N :, : n + N], upper=False)
            K = K[..., : n + N, : n + N] - root.mT @ root
        noisy = self._gaussian(candidates, noise=True).variance.squeeze(-1)
        quiet = posterior.variance.squeeze(-1)[..., :n]
        own = K.diagonal(dim1=-2, dim2=-1)[..., :n]
        total = own + (noisy - quiet).clamp_min(0.0)
        return JointMoments(
            mean[..., :n],
            mean[..., n : n + N],
            K[..., :n, n : n + N],
            own,
            total.clamp_min(LEAST_VARIANCE).sqrt(),
        )
