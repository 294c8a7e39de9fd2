"""Moments of candidates and of points that fill the box, after what is pending."""

from __future__ import annotations

from dataclasses import dataclass

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


def joint_moments(
    acquisition: HallucinatedPending, candidates: Tensor, points: Tensor
) -> JointMoments:
    """The moments, pending points counting as observed.

    Args:
        acquisition: Whose model, transform and pending points count.
        candidates: ``n x d``.
        points: ``N x d``.
    """
    n, N = len(candidates), len(points)
    pending = acquisition.X_pending
    parts = [candidates, points]
    if pending is not None:
        parts.append(pending.to(candidates))
    posterior = acquisition._gaussian(cat(parts), noise=False)
    K = posterior.distribution.covariance_matrix
    mean = posterior.mean.squeeze(-1)
    if pending is not None:
        noise = diag_embed(acquisition._pending_noise.to(K))
        L, _ = cholesky(K[..., n + N :, n + N :] + noise)
        root = solve_triangular(L, K[..., n + N :, : n + N], upper=False)
        K = K[..., : n + N, : n + N] - root.mT @ root
    noisy = acquisition._gaussian(candidates, noise=True).variance.squeeze(-1)
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
