"""Models whose posterior does not come from a dense covariance of the data."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any, Self, cast

import torch
from gpytorch import settings
from gpytorch.distributions import MultivariateNormal
from linear_operator import LinearOperator
from torch import Tensor

from bokern.errors import ShapeError
from bokern.fitting import GaussianNoise
from bokern.models.exact import StructuredGP

JOINT_LIMIT = 2**13
"""Points whose joint covariance, of half a gigabyte, is still made."""


class DirectGP(StructuredGP):
    """A `StructuredGP` that keeps what it learned from the data in a form of its own.

    Points of one ``q x d`` batch get their joint covariance; for marginals of many, ask
    in batches of one, ``X.unsqueeze(-2)``. Predictions are differentiable in X and,
    where conditioned on fantasies, in these.
    """

    prediction_strategy: Any

    @abstractmethod
    def learn(self) -> Any:
        """What is to be known of the data, at the present hyperparameters."""

    @abstractmethod
    def predict(self, learned: Any, X: Tensor) -> tuple[Tensor, LinearOperator]:
        """Posterior mean less the prior's, ``... x q``, and covariance, at X."""

    def __call__(self, *args: Tensor, **kwargs: Any) -> MultivariateNormal:
        """The posterior at points of the unit cube; in training mode, the prior."""
        if self.training or settings.prior_mode.on() or self.train_targets is None:
            return super().__call__(*args, **kwargs)
        (X,) = args
        if X.shape[-2] > JOINT_LIMIT:
            raise ShapeError(
                f"the joint covariance of {X.shape[-2]} points is too large, expected "
                f"at most {JOINT_LIMIT} of them: X.unsqueeze(-2) asks for the marginals"
            )
        if self.prediction_strategy is None:
            self.prediction_strategy = self.learn()
        mean, covariance = self.predict(self.prediction_strategy, X)
        return MultivariateNormal(mean.to(X) + self.mean_module(X), covariance)

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Self:
        """The same hyperparameters with further data; see `condition_on_observations`.

        Args:
            inputs: ``b x n' x d``, or what broadcasts to it.
            targets: ``f x b x n'``.
            **kwargs: ``noise``, variances of the targets, where it is known.
        """
        old_X, old_z = self.train_inputs[0], self.train_targets
        batch = torch.broadcast_shapes(
            old_X.shape[:-2], inputs.shape[:-2], targets.shape[:-1]
        )
        pairs = ((old_X, inputs, 2), (old_z, targets, 1))
        X, z = (
            torch.cat([p.expand(*batch, *p.shape[-d:]) for p in pair], -d)
            for *pair, d in pairs
        )
        new = self._without_data()
        new.train_inputs, new.train_targets = (X,), z
        likelihood = self.likelihood.get_fantasy_likelihood(**kwargs)
        new.likelihood = cast(GaussianNoise, likelihood)
        return new

    def _without_data(self) -> Self:
        """A copy without the tensors that may hang on a graph, which has no copy."""
        names = ("prediction_strategy", "train_inputs", "train_targets", "likelihood")
        held = {name: getattr(self, name) for name in names}
        for name in names:
            setattr(self, name, None)
        try:
            return deepcopy(self)
        finally:
            for name, value in held.items():
                setattr(self, name, value)

    def subset_output(self, idcs: list[int]) -> Self:
        """A model of some of the outcomes, numbered from 0."""
        subset = cast(Self, super().subset_output(idcs))
        subset._clear_cache()
        return subset
