"""Where inducing points begin."""

from __future__ import annotations

import torch
from sklearn.cluster import KMeans
from torch import Tensor

MOST = 512


def first_places(X: Tensor, seed: int) -> Tensor:
    """Centres of k-means, ``J x d``, with J = 512 or half the rows if these are fewer.

    Args:
        X: ``n x d``.
        seed: Of k-means, which runs once for 20 rounds at most.
    """
    count = min(MOST, len(X) // 2)
    centres = KMeans(count, n_init=1, max_iter=20, random_state=seed).fit(X.numpy())
    return torch.from_numpy(centres.cluster_centers_).to(X)
