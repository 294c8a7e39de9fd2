"""GP-UCB."""

from __future__ import annotations

from botorch.acquisition.analytic import UpperConfidenceBound
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.model import Model
from torch import Tensor

from bokern.acquisition.pending import HallucinatedPending
from bokern.acquisition.schedules import Schedule


class GPUCB(HallucinatedPending, UpperConfidenceBound):
    r"""Upper confidence bound whose reach follows a schedule.

    $$F(x) = \mu(x) + \sqrt{\beta_t}\, \sigma(x), \qquad t \ge 1
        \text{ the number of observations.}$$

    Points under evaluation lower the variance around them and leave the mean alone, so
    that a batch spreads out by itself. The value of an ensemble is the mean of its
    members' bounds. Minimise by a posterior transform of weight -1.

    Reduces to: BoTorch's ``UpperConfidenceBound`` when nothing is pending.
    Cost: one posterior a call.

    Args:
        model: A fitted model with one output, or several and a posterior transform.
        schedule: ``FiniteSchedule`` or ``ContinuousSchedule``.
        observations: How many observations the model has seen, ``t``.
        posterior_transform: Turns the posterior into the one to be maximised.
        X_pending: ``p x d`` points under evaluation.

    Raises:
        SpaceError: If ``observations < 1``, or the posterior is not Gaussian.

    References:
        [GP-UCB] eq. 6 and [GP-BUCB] eq. 7.
    """

    def __init__(
        self,
        model: Model,
        schedule: Schedule,
        observations: int,
        posterior_transform: PosteriorTransform | None = None,
        X_pending: Tensor | None = None,
    ) -> None:
        super().__init__(
            model=model,
            beta=schedule.beta(observations),
            posterior_transform=posterior_transform,
        )
        self.schedule = schedule
        self.observations = observations
        self.set_X_pending(X_pending)
