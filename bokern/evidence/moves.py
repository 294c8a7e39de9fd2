"""Metropolis moves of particles, scaled to where the other replicates' are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

RIDGE = 1e-6
"""Share of q's variance added to each covariance, for particles that coincide."""

WALK_ACCEPTANCE, KEEP_ACCEPTANCE = 0.25, 0.4
"""Acceptance at which a random walk, and a move that keeps a Gaussian, go furthest."""

GAIN = 2.0
"""Change of a step's logarithm for a change of 1 in acceptance."""


@dataclass(frozen=True)
class Frame:
    """Coordinates in which the others' particles are centred and uncorrelated.

    Args:
        mean: ``r x 1 x k``.
        factor: Lower factor of the covariance, ``r x k x k``.
    """

    mean: Tensor
    factor: Tensor

    def whiten(self, theta: Tensor) -> Tensor:
        """θ of ``r x s x k`` in these coordinates."""
        columns = (theta - self.mean).transpose(-1, -2)
        white = torch.linalg.solve_triangular(self.factor, columns, upper=False)
        return white.transpose(-1, -2)

    def colour(self, white: Tensor) -> Tensor:
        """Back to θ."""
        return self.mean + white @ self.factor.transpose(-1, -2)


class Proposal:
    """Moments of each replicate's states, and from the others' its frame.

    Its own particles would look nearer to their mean than fresh ones: scaled by those,
    64 particles of 12 coordinates missed exact values by .14 nat to either side with
    standard errors of .03 and .06, scaled by the others' by .02 and 0.

    Args:
        sd: Standard deviations of q, ``k``.
        replicates: At least 2.
    """

    def __init__(self, sd: Tensor, replicates: int) -> None:
        k = len(sd)
        self._ridge = torch.diag(RIDGE * sd.square())
        self._mean = sd.new_zeros(replicates, 1, k)
        self._second = sd.new_zeros(replicates, k, k)

    def fit(self, active: Tensor, theta: Tensor, weights: Tensor) -> None:
        """Takes the moments of weighted states.

        Args:
            active: Numbers of the replicates given, ``r``.
            theta: ``r x s x k``.
            weights: ``r x s``, rows that sum to 1.
        """
        weights = weights.unsqueeze(-1)
        mean = (weights * theta).sum(1, keepdim=True)
        deviation = theta - mean
        covariance = (weights * deviation).transpose(-1, -2) @ deviation
        self._mean[active] = mean
        self._second[active] = covariance + mean.transpose(-1, -2) @ mean

    def frame(self, active: Tensor) -> Frame:
        """Frames of some replicates, each from all others."""
        others = len(self._mean) - 1
        mean = (self._mean.sum(0) - self._mean)[active] / others
        second = (self._second.sum(0) - self._second)[active] / others
        covariance = second - mean.transpose(-1, -2) @ mean + self._ridge
        return Frame(mean, torch.linalg.cholesky(covariance))


class MoveSteps:
    r"""Two kinds of moves in turn, their steps adapted to acceptance.

    In white coordinates w with normal noise ε: the random walk $w + s ε$, from
    $s = 2.38 / \sqrt k$; and $\sqrt{1 - t}\,w + \sqrt t\,ε$, which keeps the standard
    normal and forgets at once where the target is nearly Gaussian.

    Args:
        replicates: Each has steps of its own.
        k: Number of hyperparameters.
        like: A tensor of the type and device wanted.
    """

    def __init__(self, replicates: int, k: int, like: Tensor) -> None:
        self._log_walk = like.new_full((replicates,), math.log(2.38 / math.sqrt(k)))
        self._logit_keep = like.new_zeros(replicates)
        self.rates: list[float] = []

    def propose(
        self, active: Tensor, white: Tensor, noise: Tensor, number: int
    ) -> tuple[Tensor, Tensor]:
        """Proposals ``r x s x k``, and the log ratio of their densities, ``r x s``."""
        if number % 2 == 0:
            step = self._log_walk[active].exp()[:, None, None]
            return white + step * noise, torch.zeros_like(white[..., 0])
        share = self._logit_keep[active].sigmoid()[:, None, None]
        proposed = (1.0 - share).sqrt() * white + share.sqrt() * noise
        ratio = 0.5 * (proposed.square() - white.square()).sum(-1)
        return proposed, ratio

    def adapt(self, active: Tensor, acceptance: Tensor, number: int) -> None:
        """Lengthens or shortens the step of the move just made."""
        self.rates.append(acceptance.mean().item())
        if number % 2 == 0:
            self._log_walk[active] += GAIN * (acceptance - WALK_ACCEPTANCE)
        else:
            self._logit_keep[active] += GAIN * (acceptance - KEEP_ACCEPTANCE)
