"""The exact Gaussian process of a structure with a Markov state, in O(n)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import torch
from gpytorch import settings
from gpytorch.distributions import MultivariateNormal
from linear_operator import to_linear_operator
from torch import Tensor
from torch.func import functional_call

from bokern.errors import ShapeError, StructureError
from bokern.fitting import GaussianNoise, LogPosterior
from bokern.inference import (
    MAX_STATE,
    Chain,
    Smoother,
    markov_column,
    markov_prior,
)
from bokern.kernels import StructureKernel
from bokern.models.exact import StructuredGP
from bokern.models.markov_objective import MarkovLogPosterior
from bokern.structures import KernelSpace, Structure, as_structure

JOINT_LIMIT = 2**13
"""Points whose joint covariance, of half a gigabyte, is still made."""


class StateSpaceGP(StructuredGP):
    r"""A `StructuredGP` of one column, by Kalman filtering and smoothing.

    The same model as a `StructuredGP` of the same structure, to rounding: the law of a
    sum of products of Matérn and linear kernels of one column is that of a Markov
    state, whose likelihood and posterior take O(n) time and memory rather than O(n³)
    and O(n²). Series of 50 000 observations fit in minutes.

    Everything that `StructuredGP` promises holds. Points of one ``q x d`` batch get
    their joint covariance; for marginals of many, ask in batches of one,
    ``X.unsqueeze(-2)``. Predictions are differentiable in X and, where conditioned
    on fantasies, in these; not in the hyperparameters.

    Cost: O(n s³) for a state of size s: ν + ½ for a Matérn, their sum for sums and
    their product for products. Conditioning and fantasies: O(n) for each element of
    their batch.

    Raises:
        StructureError: If the structure has no Markov state.

    References:
        [StateSpace]; [ParallelKalman]; MATH section 8
    """

    prediction_strategy: Smoother | None  # type: ignore[assignment]

    @classmethod
    def check_kernel(cls, kernel: StructureKernel, structure: Structure) -> None:
        """Refuses a kernel without a Markov state.

        Raises:
            StructureError: Of what kinds of structures it has one.
        """
        if markov_column(kernel) is None:
            raise StructureError(
                "StateSpaceGP expects sums and products of Matern(0.5), Matern(1.5), "
                f"Matern(2.5) and Linear of one column, with a state of at most "
                f"{MAX_STATE} components, got {structure}: use StructuredGP"
            )

    def log_posterior(self, use_prior: bool = True) -> LogPosterior:
        """The objective of this model, in O(n); see `StructuredGP.log_posterior`."""
        return MarkovLogPosterior(super().log_posterior(use_prior))

    def log_posteriors(self, use_prior: bool = True) -> list[LogPosterior]:
        """One objective for each batch element and outcome, over copies of modules."""
        return [MarkovLogPosterior(p) for p in super().log_posteriors(use_prior)]

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
            self.prediction_strategy = self._smoother()
        mean, covariance = self.prediction_strategy.predict(self._times(X))
        mean = mean.to(X) + self.mean_module(X)
        return MultivariateNormal(mean, to_linear_operator(covariance.to(X)))

    def get_fantasy_model(
        self, inputs: Tensor, targets: Tensor, **kwargs: Any
    ) -> StateSpaceGP:
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

    def _without_data(self) -> StateSpaceGP:
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

    def subset_output(self, idcs: list[int]) -> StateSpaceGP:
        """A model of some of the outcomes, numbered from 0."""
        subset = cast(StateSpaceGP, super().subset_output(idcs))
        subset._clear_cache()
        return subset

    def _times(self, X: Tensor) -> Tensor:
        column = markov_column(self.covar_module)
        assert column is not None
        return X[..., column].double()

    def _smoother(self) -> Smoother:
        """The posterior at the present hyperparameters, held fixed."""
        with torch.no_grad():
            prior = markov_prior(self.covar_module).fixed()
            noise = self.likelihood.noise.double()
        X, z = self.train_inputs[0], self.train_targets
        fixed = {n: p.detach() for n, p in self.mean_module.named_parameters()}
        mean = functional_call(self.mean_module, fixed, (X,))
        noise = noise.expand(*noise.shape[:-1], z.shape[-1])
        return Smoother(Chain(self._times(X)), prior, (z - mean).double(), noise)


def has_markov_state(structure: Structure | str, dim: int) -> bool:
    """Whether `StateSpaceGP` takes a structure on ``dim`` columns, by number."""
    kernel = as_structure(structure).kernel(KernelSpace(dim))
    return markov_column(kernel) is not None
