"""The knowledge gradient, in closed form but for one integral over one number."""

from __future__ import annotations

from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor, cat, linspace

from bokern.acquisition.joint import joint_moments
from bokern.acquisition.pending import HallucinatedPending

NODES, REACH = 97, 6.0
"""Equally spaced values of the observation, to so many standard deviations: where the
best point changes at three of them, the gain is found within two parts in a hundred."""


class KnowledgeGradient(HallucinatedPending, AnalyticAcquisitionFunction):
    r"""What an observation is expected to raise the best posterior mean by.

    $$F(x) = E_Z \max_i \big(\mu_i + \tilde\sigma_i(x) Z\big) - \max_i \mu_i, \qquad
        \tilde\sigma_i(x) = \frac{\Sigma(z_i, x)}{\sqrt{\Sigma(x, x) + s}}$$

    over points z that fill the box, those seen and the candidate itself. An observation
    moves the posterior mean along one direction, so that nothing needs to be imagined
    but one normal number. Pending points count as observed. The value of an ensemble
    is the mean of its members'.

    Reduces to: BoTorch's ``qKnowledgeGradient`` where its inner optimum is at one of
    the points, at a fraction of its cost.
    Cost: one joint posterior of all candidates and points a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        points: ``N x d``, in the units of the model's inputs.
        posterior_transform: Turns the posterior into the one to be maximised.
        X_pending: ``p x d`` points under evaluation.

    References:
        Frazier, Powell and Dayanik (2009), "The knowledge-gradient policy for
        correlated normal beliefs", INFORMS Journal on Computing 21, eq. 12.
    """

    points: Tensor
    nodes: Tensor
    weights: Tensor

    def __init__(
        self,
        model: Model,
        points: Tensor,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
    ) -> None:
        super().__init__(model=model, posterior_transform=posterior_transform)
        nodes = linspace(-REACH, REACH, NODES).to(points)
        self.register_buffer("points", points)
        self.register_buffer("nodes", nodes)
        self.register_buffer("weights", (-0.5 * nodes.square()).softmax(0))
        self.set_X_pending(X_pending)

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """The acquisition's value.

        Args:
            X: ``b x 1 x d`` candidates.

        Returns:
            ``b`` values, in units of the outcome.
        """
        candidates = X.reshape(-1, X.shape[-1])
        moments = joint_moments(self, candidates, self.points.to(X))
        spread = moments.spread.unsqueeze(-1)
        # ... x n x (N + 1), the candidate itself last.
        step = cat([moments.cross, moments.own.unsqueeze(-1)], -1) / spread
        there = moments.mean_points.unsqueeze(-2).expand(moments.cross.shape)
        mean = cat([there, moments.mean.unsqueeze(-1)], -1)
        ahead = mean.unsqueeze(-1) + step.unsqueeze(-1) * self.nodes.to(X)
        best = (ahead.amax(-2) * self.weights.to(X)).sum(-1)
        gain = best - mean.amax(-1)
        return gain.reshape(-1, len(candidates)).mean(0).reshape(X.shape[:-2])
