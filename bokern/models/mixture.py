"""Several structures at once, weighted by what is believed of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Self, cast

import torch
from botorch import settings
from botorch.acquisition.objective import PosteriorTransform
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import FantasizeMixin, Model
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.models.utils.assorted import fantasize as fantasize_flag
from botorch.posteriors import Posterior, TransformedPosterior
from botorch.posteriors.fully_bayesian import MCMC_DIM, GaussianMixturePosterior
from botorch.sampling.base import MCSampler
from botorch.utils.datasets import SupervisedDataset
from botorch.utils.types import DEFAULT, _DefaultType
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import Mean
from gpytorch.mlls import ExactMarginalLogLikelihood, MarginalLogLikelihood
from gpytorch.models import GP
from linear_operator import to_linear_operator
from torch import Tensor, nn

from bokern.errors import InputError, ShapeError, StructureError
from bokern.fitting import GaussianNoise
from bokern.models.atoms import Atoms, conditioned, draw_shared
from bokern.models.exact import StructuredGP
from bokern.models.outcome_steps import nonlinear_steps, same_step, untransformed
from bokern.models.slots import MAX_SLOTS, allocate_slots
from bokern.models.transformed_mixture import TransformedMixturePosterior
from bokern.structures import Structure, as_structure

DRAWS = 16
"""Of hyperparameters, unless told otherwise."""


class MixtureGP(GPyTorchModel, GP, FantasizeMixin):
    r"""A weighted mixture of structured GPs on the same data.

    BoTorch sees an ensemble: posteriors are Gaussian mixtures over equal slots, and an
    acquisition is the mean over slots, so that UCB is the weighted mean of the
    members' UCBs. With ``draws``, slots have hyperparameters drawn from what is
    believed of their member's, by Laplace's method: the fitted ones alone are too sure
    on few data. Real observations reweight members and draws by their predictive
    density; a fantasy is drawn under each slot's own and conditions it.

    Args:
        train_X: ``n x d``.
        train_Y: ``n x 1``.
        train_Yvar: ``n x 1``, if known.
        likelihood: Must be None: each member has its own.
        covar_module: Must be None: the structures give the kernels.
        mean_module: Must be None: each member has its own.
        outcome_transform: `Standardize` by default.
        input_transform: Such as `Normalize`.
        structures: The members' structures, or their texts.
        weights: Probabilities of the structures; equal by default.
        starts: Optimisations per member in `custom_fit`.
        seed: Of the starts.
        warm: A further start for each member, or None, as of `StructuredGP`.

    Raises:
        StructureError: If there is no structure, or modules are passed.
        ShapeError: If weights do not match, or there are several outcomes.
    """

    _is_ensemble = True
    _supports_batched_models = False
    _supports_cache_root = False

    weights: Tensor
    atom_weights: Tensor
    slots: Tensor

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        likelihood: GaussianLikelihood | None = None,
        covar_module: None = None,
        mean_module: Mean | None = None,
        outcome_transform: OutcomeTransform | _DefaultType | None = DEFAULT,
        input_transform: InputTransform | None = None,
        structures: Sequence[Structure | str] = ("Matern(2.5)",),
        weights: Sequence[float] | None = None,
        starts: int = 8,
        seed: int = 0,
        warm: Sequence[Sequence[float] | None] | None = None,
    ) -> None:
        if not (likelihood is covar_module is mean_module is None):
            raise StructureError(
                "MixtureGP builds kernel, mean and likelihood of each member from its "
                "structure: pass structures= only"
            )
        if train_Y.shape[-1] != 1 or train_X.dim() != 2:
            raise ShapeError(
                "MixtureGP expects n x d inputs and n x 1 outcomes, got "
                f"{tuple(train_X.shape)} and {tuple(train_Y.shape)}: use a ModelListGP "
                "of mixtures for several outcomes"
            )
        members = [
            StructuredGP(
                train_X,
                train_Y,
                train_Yvar,
                outcome_transform=outcome_transform,
                input_transform=input_transform,
                structure=structure,
                starts=starts,
                seed=seed,
                warm=start,
            )
            for structure, start in zip(
                structures, warm or [None] * len(structures), strict=True
            )
        ]
        super().__init__()
        self._setup(members, weights)

    @classmethod
    def from_members(
        cls,
        members: Sequence[StructuredGP],
        weights: Sequence[float] | Tensor,
        draws: int = 0,
    ) -> Self:
        """A mixture of models that are fitted already.

        Args:
            members: The models, of one outcome.
            weights: Their probabilities.
            draws: Of hyperparameters, of all members together, 32 at most; 0 for the
                fitted ones.

        Raises:
            InputError: If there are too many draws, or outcomes are transformed unlike.
            ShapeError: If weights do not match, or a member has several outcomes, or a
                batch and draws.
        """
        model = cls.__new__(cls)
        GP.__init__(model)
        model._setup(members, weights, draws)
        if draws:
            model.integrate()
        return model

    def _setup(
        self,
        members: Sequence[StructuredGP],
        weights: Sequence[float] | Tensor | None,
        draws: int = 0,
    ) -> None:
        if not members:
            raise StructureError("MixtureGP expects at least one structure, got none")
        if type(draws) is not int or not 0 <= draws <= MAX_SLOTS:
            raise InputError(
                f"draws is a whole number from 0, for fitted hyperparameters, to "
                f"{MAX_SLOTS}, got {draws!r:.60}"
            )
        for member in members if draws else ():
            if len(member.batch_shape) or member.num_outputs > 1:
                raise ShapeError(
                    "draws of hyperparameters are of models with one outcome and no "
                    f"batch, got {member.num_outputs} outcomes and a batch of "
                    f"{tuple(member.batch_shape)}"
                )
        _check_one_outcome(members)
        self._num_outputs = 1
        self.members = nn.ModuleList(members)
        given = torch.ones(len(members)) if weights is None else weights
        share = torch.as_tensor(given).to(members[0].train_targets)
        usable = share.shape[-1:] == (len(members),) and (not draws or share.dim() == 1)
        usable = usable and bool((torch.isfinite(share) & (share >= 0)).all())
        if not usable or not bool((share.sum(-1) > 0).all()):
            raise ShapeError(
                f"MixtureGP expects {len(members)} non-negative weights, not all zero, "
                f"got {given}"
            )
        share = share / share.sum(-1, keepdim=True)
        self.draws = draws
        self.register_buffer("weights", share)
        self._hold([Atoms(member) for member in members], share)

    def _hold(
        self, atoms: list[Atoms], weights: Tensor, slots: Tensor | None = None
    ) -> None:
        """Fills the slots with atoms of given weights, ``... x atoms``."""
        self._atoms = atoms
        if slots is None:
            drawn = any(a.thetas is not None for a in atoms)
            slots = allocate_slots(weights, MAX_SLOTS if drawn else 1)
        self.register_buffer("atom_weights", weights, persistent=False)
        self.register_buffer("slots", slots, persistent=False)

    def integrate(self) -> None:
        """Draws hyperparameters around the fitted ones of each member.

        Members share the draws by their weights; one that is worth less than two keeps
        the fitted ones.
        """
        self._hold(*draw_shared(self._gps, self.weights, self.draws))

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        """Moves the draws as well: they are no submodules."""
        super()._apply(fn, recurse)
        for atoms in self._atoms:
            atoms.apply(fn)
        return self

    @property
    def _gps(self) -> list[StructuredGP]:
        return [cast(StructuredGP, member) for member in self.members]

    @property
    def structures(self) -> tuple[Structure, ...]:
        """The members' structures, columns by number."""
        return tuple(member.structure for member in self._gps)

    @property
    def slot_weights(self) -> Tensor:
        """The share of each member that acquisitions see, ``... x members``."""
        one_hot = nn.functional.one_hot(self.slots, self.atom_weights.shape[-1])
        return self._by_member(one_hot.to(self.weights).mean(-2))

    def _by_member(self, shares: Tensor) -> Tensor:
        """Sums over the atoms of each member."""
        sizes = [atoms.size for atoms in self._atoms]
        return torch.stack([part.sum(-1) for part in shares.split(sizes, -1)], -1)

    def atom(self, number: int) -> StructuredGP:
        """The model of an atom, with its hyperparameters, by its number in `slots`."""
        for atoms in self._atoms:
            if number < atoms.size:
                return atoms.one(number)
            number -= atoms.size
        raise IndexError("there are not so many atoms")

    @property
    def batch_shape(self) -> torch.Size:
        """Batch of the members, and the slots: what a posterior's mean has in front."""
        batch = self._gps[0].batch_shape
        return torch.Size([*batch, self.slots.shape[-1]])

    @property
    def likelihood(self) -> GaussianNoise:  # type: ignore[override]
        """The first member's likelihood."""
        return self._gps[0].likelihood

    @property
    def train_inputs(self) -> tuple[Tensor, ...]:
        """Of every member."""
        return self._gps[0].train_inputs

    @property
    def train_targets(self) -> Tensor:
        """Of the first member, after its outcome transform."""
        return self._gps[0].train_targets

    def set_train_data(
        self,
        inputs: Tensor | Sequence[Tensor] | None = None,
        targets: Tensor | None = None,
        strict: bool = True,
    ) -> None:
        """Replaces the data of every member, keeping all hyperparameters.

        Args:
            inputs: In raw units.
            targets: Outcome-transformed.
            strict: Whether shapes must be as before.
        """
        for member in self._gps:
            training = member.training
            member.train()
            member.set_train_data(inputs, targets, strict)
            member.train(training)
        self._atoms = [atoms.again() for atoms in self._atoms]

    @classmethod
    def construct_inputs(
        cls,
        training_data: SupervisedDataset,
        *,
        structures: Sequence[Structure | str] = ("Matern(2.5)",),
        weights: Sequence[float] | None = None,
        starts: int = 8,
        seed: int = 0,
        warm: Sequence[Sequence[float] | None] | None = None,
        categorical_features: Sequence[int] | None = None,
        fidelity_features: Sequence[int] | None = None,
        task_feature: int | None = None,
        hierarchical_dependencies: Any = None,
    ) -> dict[str, Any]:
        """Arguments from a dataset; columns are resolved among its feature names."""
        names = training_data.feature_names
        resolved = [str(as_structure(s).resolve(names)) for s in structures]
        return super().construct_inputs(training_data) | {
            "structures": resolved,
            "weights": weights,
            "starts": starts,
            "seed": seed,
            "warm": warm,
        }

    def custom_fit(
        self, mll: MarginalLogLikelihood, **kwargs: Any
    ) -> MarginalLogLikelihood:
        """Fits each member; what `fit_gpytorch_mll` calls."""
        for member in self._gps:
            member.custom_fit(ExactMarginalLogLikelihood(member.likelihood, member))
        if self.draws:
            self.integrate()
        return mll.eval()

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The prior of the first member in training, the mixture's slots after."""
        if self.training:
            return self._gps[0].forward(X)
        return self._slot_distribution(X, False)

    def transform_inputs(
        self, X: Tensor, input_transform: nn.Module | None = None
    ) -> Tensor:
        """The inputs: each member transforms them by itself."""
        return X

    def posterior(  # type: ignore[override]
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> Posterior:
        """The mixture at ``b x q x d`` points: mean ``b x slots x q x 1``."""
        mixture: Posterior = GaussianMixturePosterior(
            self._slot_distribution(X, observation_noise)
        )
        mixture = untransformed(_outcome_transform(self._gps[0]), mixture)
        if isinstance(mixture, TransformedPosterior):
            mixture = TransformedMixturePosterior(mixture)
        return posterior_transform(mixture, X) if posterior_transform else mixture

    def atom_distribution(
        self, X: Tensor, observation_noise: bool | Tensor = False
    ) -> MultivariateNormal:
        """The members, or draws of their hyperparameters, each by itself.

        Args:
            X: ``b x q x d``.
            observation_noise: Whether to add the noise; see `posterior`.

        Returns:
            Gaussians of mean ``b x atoms x q``, before the outcome transform's steps
            that are not linear; they belong to the ``atom_weights``.
        """
        self.eval()
        parts = [atoms.law(X, observation_noise) for atoms in self._atoms]
        mean = torch.cat([p.mean for p in parts], -2)
        covariance = torch.cat([p.covariance_matrix for p in parts], MCMC_DIM)
        return MultivariateNormal(mean, to_linear_operator(covariance))

    def _slot_distribution(
        self, X: Tensor, observation_noise: bool | Tensor
    ) -> MultivariateNormal:
        law = self.atom_distribution(X, observation_noise)
        mean, covariance = law.mean, law.covariance_matrix
        slots = self.slots.expand(*mean.shape[:-2], self.slots.shape[-1])
        mean = mean.gather(-2, slots.unsqueeze(-1).expand(*slots.shape, mean.shape[-1]))
        index = slots[..., None, None].expand(*slots.shape, *covariance.shape[-2:])
        covariance = covariance.gather(MCMC_DIM, index)
        return MultivariateNormal(mean, to_linear_operator(covariance))

    def condition_on_observations(
        self, X: Tensor, Y: Tensor, noise: Tensor | None = None, **kwargs: Any
    ) -> MixtureGP:
        """The mixture after real observations, reweighted by predictive density.

        Args:
            X: ``b x n' x d``.
            Y: ``b x n' x 1``, the same for all members.
            noise: Their variances in the outcome-transformed space, if known.
            **kwargs: For `StructuredGP.condition_on_observations`.
        """
        self.eval()
        densities = [atoms.log_predictive(X, Y, noise) for atoms in self._atoms]
        updated = self.atom_weights.log() + torch.cat(densities, -1)
        updated = torch.softmax(updated, -1).detach()
        atoms = [atoms.conditioned(X, Y, noise, **kwargs) for atoms in self._atoms]
        members = [a.member for a in atoms]
        found = type(self).from_members(members, self._by_member(updated))
        found._hold(atoms, updated)
        found.draws = self.draws
        return found

    def fantasize(
        self,
        X: Tensor,
        sampler: MCSampler,
        observation_noise: Tensor | None = None,
        **kwargs: Any,
    ) -> MixtureGP:
        """Each slot conditioned on observations drawn under its own member."""
        if self.slots.dim() > 1:
            raise ShapeError("a mixture that was conditioned in batch has no fantasies")
        likelihood = self.likelihood
        noise = observation_noise
        if noise is None and isinstance(likelihood, FixedNoiseGaussianLikelihood):
            noise = likelihood.noise.mean(-1, keepdim=True).unsqueeze(-1)
        visible = True if noise is None else noise
        propagate = kwargs.pop("propagate_grads", False)
        with fantasize_flag(), settings.propagate_grads(propagate):
            samples = sampler(self.posterior(X, observation_noise=visible))
            drawn = samples.unbind(MCMC_DIM)
            if noise is not None:
                kwargs["noise"] = noise.expand(drawn[0].shape[1:])
            atoms = {slot: self.atom(slot) for slot in set(self.slots.tolist())}
            members = [
                conditioned(atoms[slot], X, Y, **kwargs)
                for slot, Y in zip(self.slots.tolist(), drawn, strict=True)
            ]
        return type(self).from_members(members, [1.0] * len(members))

    def subset_output(self, idcs: list[int]) -> Model:
        """The mixture itself: it has one outcome.

        Raises:
            ShapeError: If another is asked for.
        """
        if list(idcs) in ([0], [-1]):
            return self
        raise ShapeError(f"a mixture has one outcome, number 0; got {list(idcs)}")

    def load_state_dict(  # type: ignore[override]
        self,
        state_dict: Mapping[str, Any],
        strict: bool = True,
        keep_transforms: bool = True,
        assign: bool = False,
    ) -> None:
        """Loads each member, keeping this model's data and transforms."""
        for number, member in enumerate(self._gps):
            prefix = f"members.{number}."
            own = {
                key.removeprefix(prefix): value
                for key, value in state_dict.items()
                if key.startswith(prefix)
            }
            member.train()
            member.load_state_dict(own, strict, keep_transforms, assign)
        self.weights.copy_(state_dict["weights"])
        self._hold([Atoms(member) for member in self._gps], self.weights)
        if self.draws:
            self.integrate()


def _outcome_transform(member: StructuredGP) -> OutcomeTransform | None:
    return getattr(member, "outcome_transform", None)


def _check_one_outcome(members: Sequence[StructuredGP]) -> None:
    """Checks that all members transform the outcome alike, where not linearly."""
    transforms = [nonlinear_steps(_outcome_transform(m)) for m in members]
    for other in transforms[1:]:
        if not all(same_step(*p) for p in zip_longest(transforms[0], other)):
            raise InputError(
                "the members of a mixture need one outcome transform, or transforms "
                "that are linear, such as Standardize: fit all with the same outcome="
            )


def integrated(model: StructuredGP, draws: int = DRAWS) -> MixtureGP:
    """The model with its hyperparameters averaged over, not only fitted.

    Args:
        model: Fitted by MAP, of one outcome and no batch.
        draws: Of the hyperparameters, from their posterior by Laplace's method.
    """
    return MixtureGP.from_members([model], [1.0], draws)
