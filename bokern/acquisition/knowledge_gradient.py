"""The knowledge gradient, in closed form but for one integral over one number."""

from __future__ import annotations

from torch import Tensor, cat, linspace

from bokern.acquisition.joint import JointMoments, OverPoints

NODES, REACH = 97, 6.0
"""Equally spaced values of the observation, to so many standard deviations: where the
best point changes at three of them, the gain is found within two parts in a hundred."""


class KnowledgeGradient(OverPoints):
    r"""What an observation is expected to raise the best posterior mean by.

    $$F(x) = E_Z \max_i \big(\mu_i + \tilde\sigma_i(x) Z\big) - \max_i \mu_i, \qquad
        \tilde\sigma_i(x) = \frac{\Sigma(z_i, x)}{\sqrt{\Sigma(x, x) + s}}$$

    over the points z and the candidate itself. An observation moves the posterior mean
    along one direction, so that nothing needs to be imagined but one normal number.

    Reduces to: BoTorch's ``qKnowledgeGradient`` where its inner optimum is at one of
    the points, at a fraction of its cost.

    References:
        Frazier, Powell and Dayanik (2009), "The knowledge-gradient policy for
        correlated normal beliefs", INFORMS Journal on Computing 21, eq. 12.
    """

    def gain(self, moments: JointMoments) -> Tensor:
        """In units of the outcome."""
        z = linspace(-REACH, REACH, NODES).to(moments.mean)
        weights = (-0.5 * z.square()).softmax(0)
        # ... x n x (N + 1), the candidate itself last.
        step = cat([moments.cross, moments.own.unsqueeze(-1)], -1)
        step = step / moments.spread.unsqueeze(-1)
        there = moments.mean_points.unsqueeze(-2).expand(moments.cross.shape)
        mean = cat([there, moments.mean.unsqueeze(-1)], -1)
        ahead = mean.unsqueeze(-1) + step.unsqueeze(-1) * z
        return (ahead.amax(-2) * weights).sum(-1) - mean.amax(-1)
