"""A member of a mixture, at fitted hyperparameters or at draws of them, as a batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, TypeVar, cast

import torch
from botorch.posteriors.fully_bayesian import MCMC_DIM
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import Mean
from linear_operator import to_linear_operator
from torch import Tensor, nn

from bokern import seeding
from bokern.errors import EvidenceError, FitWarning
from bokern.fitting import Curvature
from bokern.models.direct import DirectGP
from bokern.models.exact import StructuredGP
from bokern.models.outcome_steps import apply_step, gaussian_part, nonlinear_steps
from bokern.models.slots import counts_of

DENSE_ROWS = 1000
"""Up to so many rows the draws of a filter's hyperparameters are predicted densely."""

ModuleT = TypeVar("ModuleT", bound=nn.Module)


class Atoms:
    """A fitted model, or itself at several hyperparameters.

    Args:
        member: The fitted model.
        thetas: ``size x k`` hyperparameters in place of the fitted ones.
        batch: The model at these, if there is one already.
    """

    def __init__(
        self,
        member: StructuredGP,
        thetas: Tensor | None = None,
        batch: StructuredGP | None = None,
    ) -> None:
        self.member, self.thetas = member, thetas
        if batch is None:
            batch = member if thetas is None else at_each(member, thetas)
        self.batch = batch

    @classmethod
    def drawn(cls, member: StructuredGP, size: int) -> Atoms:
        """The model at draws from the Gaussian that Laplace's method puts on θ.

        At its fitted θ alone for fewer than two draws, or if it has no θ; with a
        warning, if it was fitted without priors, for filters of long series, whose
        covariances would be formed, and where the curvature cannot be used.
        """
        objective = member.log_posterior()
        if size < 2 or objective.dim == 0:
            return cls(member)
        seed = seeding.spawn("draws", member.structure)
        try:
            if member.objective == "ml":
                raise EvidenceError(
                    "it was fitted without priors: fit with objective='map'"
                )
            if isinstance(member, DirectGP) and objective.num_data > DENSE_ROWS:
                raise EvidenceError(
                    "draws need dense covariances, which are formed up to "
                    f"{DENSE_ROWS} rows, and there are {objective.num_data}"
                )
            around = Curvature.at(objective, member.theta())
        except EvidenceError as error:
            warnings.warn(
                f"predictions of {member.structure} do not include what is unknown of "
                f"its hyperparameters: {error}",
                FitWarning,
                stacklevel=2,
            )
            return cls(member)
        return cls(member, around.draw(size, seed))

    @property
    def size(self) -> int:
        """How many: 1, or the number of draws."""
        return 1 if self.thetas is None else len(self.thetas)

    def law(self, X: Tensor, observation_noise: bool | Tensor) -> MultivariateNormal:
        """The posteriors at ``b x q x d`` points: means ``b x size x q``.

        Before the outcome transform's steps that are not linear.
        """
        if self.thetas is None:
            law = _gaussian(self.batch, X, observation_noise)
            # As an operator: a tensor would be checked for being positive definite.
            covariance = to_linear_operator(law.covariance_matrix.unsqueeze(MCMC_DIM))
            return MultivariateNormal(law.mean.unsqueeze(-2), covariance)
        if isinstance(observation_noise, Tensor):
            observation_noise = observation_noise.unsqueeze(MCMC_DIM)
        return _gaussian(self.batch, X.unsqueeze(MCMC_DIM), observation_noise)

    def log_predictive(self, X: Tensor, Y: Tensor, noise: Tensor | None) -> Tensor:
        """Joint log density of new observations, ``b x size``.

        In raw units, but for a factor that all members of a mixture share.

        Args:
            X: ``b x q x d``.
            Y: ``b x q x 1``.
            noise: Their variances in the outcome-transformed space, if known.
        """
        law = self.law(X, True if noise is None else noise)
        for step in nonlinear_steps(getattr(self.member, "outcome_transform", None)):
            Y = apply_step(step, Y)
        return law.log_prob(Y.squeeze(-1).unsqueeze(-2))

    def conditioned(
        self, X: Tensor, Y: Tensor, noise: Tensor | None, **kwargs: Any
    ) -> Atoms:
        """After new observations; arguments as of `log_predictive`."""
        given = {"X": X, "Y": Y} | ({} if noise is None else {"noise": noise})
        member = conditioned(self.member, **given, **kwargs)
        if self.thetas is None:
            return Atoms(member)
        for name, part in given.items():
            shape = (*part.shape[:-2], self.size, *part.shape[-2:])
            given[name] = part.unsqueeze(MCMC_DIM).expand(shape)
        return Atoms(member, self.thetas, conditioned(self.batch, **given, **kwargs))

    def one(self, number: int) -> StructuredGP:
        """One of them, without a batch."""
        if self.thetas is None:
            return self.member
        model = deepcopy(self.member, _data_of(self.member))
        model.log_posterior().set(self.thetas[number])
        model.train()
        return model.eval()

    def apply(self, fn: Callable[[Tensor], Tensor]) -> None:
        """Maps what is not the member's, as `torch.nn.Module._apply` does."""
        if self.thetas is not None:
            self.thetas = fn(self.thetas)
            self.batch._apply(fn)

    def again(self) -> Atoms:
        """The same hyperparameters on the data that the member has now."""
        return Atoms(self.member, self.thetas)


def draw_shared(
    members: Sequence[StructuredGP], weights: Tensor, draws: int
) -> tuple[list[Atoms], Tensor, Tensor]:
    """Draws that members share by their weights.

    Args:
        members: Fitted, each of one outcome and no batch.
        weights: Of the members, summing to one.
        draws: Of all together.

    Returns:
        Atoms of each member, the weights of all atoms, and the numbers of those that
        stand for each draw: where a member has none, its fitted self, as often.
    """
    counts = [int(count) for count in counts_of(weights, draws)]
    atoms = [Atoms.drawn(m, count) for m, count in zip(members, counts, strict=True)]
    sizes = torch.tensor([part.size for part in atoms], device=weights.device)
    first = sizes.cumsum(0) - sizes
    slots = torch.cat(
        [
            at + torch.arange(count, device=weights.device) % size
            for at, size, count in zip(first, sizes, counts, strict=True)
        ]
    )
    return atoms, (weights / sizes).repeat_interleave(sizes), slots


def conditioned(
    member: StructuredGP, X: Tensor, Y: Tensor, **kwargs: Any
) -> StructuredGP:
    """The model after new observations."""
    if member.prediction_strategy is None:
        member.posterior(X)  # GPyTorch conditions what a prediction has cached.
    return cast(StructuredGP, member.condition_on_observations(X, Y, **kwargs))


def at_each(model: StructuredGP, thetas: Tensor) -> StructuredGP:
    """The model at each of some hyperparameters: its data, and a batch of them.

    Args:
        model: Of one outcome and no batch.
        thetas: ``size x k``, in the coordinates of `StructuredGP.theta`.

    Returns:
        A model of batch shape ``size``, in the units of the one given, ready to
        predict; no gradients reach its hyperparameters.
    """
    size, training = torch.Size([len(thetas)]), model.training
    model.train()
    X, z = model.train_inputs[0], model.train_targets.unsqueeze(-1)
    batch = StructuredGP(
        X.expand(*size, *X.shape),
        z.expand(*size, *z.shape),
        likelihood=_spread(cast(GaussianLikelihood, model.likelihood), size),
        mean_module=_spread(model.mean_module, size),
        outcome_transform=None,
        structure=model.structure,
    )
    batch.covar_module = model.covar_module.expand_batch(size)
    batch.log_posterior().set(thetas)
    # Only now: in a constructor, and in training, transforms learn from the data.
    for name in ("input_transform", "outcome_transform"):
        if hasattr(model, name):
            setattr(batch, name, deepcopy(getattr(model, name)).eval())
    batch._given_targets = model.raw_targets.expand(*size, *z.shape)
    model.train(training)
    return batch.requires_grad_(False).eval()


def _data_of(model: StructuredGP) -> dict[int, Any]:
    """What a copy shares: data, which may belong to a graph, but no caches."""
    shared: list[Any] = [*model.train_inputs, model.train_targets]
    shared += list(model.likelihood.noise_covar.__dict__.values())
    shared.append(getattr(model, "_original_train_inputs", None))
    memo: dict[int, Any] = {id(t): t for t in shared if isinstance(t, Tensor)}
    memo[id(model.prediction_strategy)] = None
    return memo


def _spread(module: ModuleT, size: torch.Size) -> ModuleT:
    """A copy with a batch dimension in front of its parameters."""
    copy = deepcopy(module)
    for parameter in copy.parameters():
        parameter.data = parameter.data.expand(*size, *parameter.shape).clone()
    if isinstance(copy, FixedNoiseGaussianLikelihood):
        noise = copy.noise
        copy.noise_covar.noise = noise.expand(*size, *noise.shape)
    elif isinstance(copy, Mean) and hasattr(copy, "batch_shape"):
        copy.batch_shape = size  # type: ignore[assignment]
    return copy


def _gaussian(
    member: StructuredGP, X: Tensor, observation_noise: bool | Tensor
) -> MultivariateNormal:
    posterior = member.posterior(X, observation_noise=observation_noise)
    return gaussian_part(posterior).distribution
