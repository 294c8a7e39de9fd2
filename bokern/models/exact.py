"""The exact Gaussian process of any structure, as a BoTorch model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, TypeVar, cast

import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions.errors import ModelFittingError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.posteriors import GPyTorchPosterior, TransformedPosterior
from botorch.utils.datasets import SupervisedDataset
from botorch.utils.types import DEFAULT, _DefaultType
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import ConstantMean, Mean, ZeroMean
from gpytorch.mlls import MarginalLogLikelihood
from torch import Tensor, nn

from bokern import hyperpriors, seeding
from bokern.errors import BokernError, ShapeError, StructureError
from bokern.fitting import FitResult, GaussianNoise, LogPosterior, fit_map
from bokern.fitting.log_posterior import known_noise_of
from bokern.kernels import ConditionalDeepKernel, StructureKernel
from bokern.models.noise import inferred_noise, known_noise_floor
from bokern.models.outcome_steps import recovered
from bokern.structures import KernelSpace, Structure, as_structure

ModuleT = TypeVar("ModuleT", bound=nn.Module)

WARM_STARTS = 1
"""Optimisations beside the one that starts from an earlier fit."""


class StructuredGP(SingleTaskGP):
    r"""A single-task GP whose prior is a structure.

    An ordinary BoTorch model: batches, several independent outcomes, known or inferred
    noise, transforms, fantasies, conditioning. `fit_gpytorch_mll` reaches
    `custom_fit`: multi-start MAP on the objective that evidence uses.

    Inputs are expected in the unit cube, or brought there by ``input_transform``.

    Args:
        train_X: ``batch x n x d``.
        train_Y: ``batch x n x m``.
        train_Yvar: Variances of the observations, ``batch x n x m``, if known.
        likelihood: Replaces the default one; its constraints need
            ``transform=torch.exp`` and its parameters priors.
        covar_module: Must be None: the structure gives the kernel.
        mean_module: Replaces the constant mean with a N(0, 1) prior.
        outcome_transform: `Standardize` by default.
        input_transform: Such as `Normalize`.
        structure: A structure or its text; columns by number, or named x0, x1, ….
        starts: Number of optimisations in `custom_fit`; with ``warm``, one beside it.
        seed: Of the starts.
        objective: ``"map"``, or ``"ml"`` for type-II maximum likelihood.
        warm: A start from an earlier fit, ``k`` unconstrained hyperparameters, in place
            of all others but one; left out if it is of another length or not finite.

    Raises:
        StructureError: If the structure is malformed or a kernel is passed.
        ColumnError: If the structure names a column that does not exist.
    """

    covar_module: StructureKernel
    likelihood: GaussianNoise
    mean_module: Mean

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
        structure: Structure | str = "Matern(2.5)",
        starts: int = 8,
        seed: int = 0,
        objective: str = "map",
        warm: Sequence[float] | None = None,
    ) -> None:
        if covar_module is not None:
            raise StructureError(
                "StructuredGP takes its kernel from the structure: pass structure=, "
                "or use botorch's SingleTaskGP for a kernel of your own"
            )
        if objective not in ("map", "ml"):
            raise StructureError(f"objective is 'map' or 'ml', got {objective!r}")
        names = [f"x{j}" for j in range(train_X.shape[-1])]
        resolved = as_structure(structure).resolve(names)
        outcomes = train_Y.shape[-1:] if train_Y.shape[-1] > 1 else ()
        batch_shape = (*train_X.shape[:-2], *outcomes)
        kernel = resolved.kernel(KernelSpace(train_X.shape[-1], batch_shape))
        self.check_kernel(kernel, resolved)
        if mean_module is None:
            mean_module = ConstantMean(
                constant_prior=hyperpriors.mean(), batch_shape=torch.Size(batch_shape)
            )
        if likelihood is None and train_Yvar is None:
            likelihood = inferred_noise(batch_shape)
        with known_noise_floor():
            super().__init__(
                train_X,
                train_Y,
                train_Yvar,
                likelihood=likelihood,
                covar_module=kernel,
                mean_module=mean_module,
                outcome_transform=outcome_transform,
                input_transform=input_transform,
            )
        self._is_custom_likelihood = False
        self._given_targets = train_Y.detach().clone()
        self.structure = resolved
        self.given_structure = as_structure(structure)
        self.column_names = tuple(names)
        self.target_name = "y"
        self.bounds: Tensor | None = None
        self.starts = starts
        self.seed = seed
        self.objective = objective
        self.warm = None if warm is None else tuple(map(float, warm))
        self.fit_results: tuple[FitResult, ...] = ()
        self._subset_batch_dict = {
            name: len(batch_shape) - 1 - parameter.dim()
            for name, parameter in self.named_parameters()
            if not name.startswith("covar_module.")
        }

    @classmethod
    def check_kernel(cls, kernel: StructureKernel, structure: Structure) -> None:
        """Refuses a kernel that the inference of a class cannot take; none here."""

    @property
    def fit_result(self) -> FitResult | None:
        """What the last fit found, of a model with one outcome and no batch."""
        return self.fit_results[0] if len(self.fit_results) == 1 else None

    @property
    def inference(self) -> str:
        """How the function is integrated out, as evidence names it."""
        matched = any(
            isinstance(kernel, ConditionalDeepKernel) and kernel.is_moment_matched
            for kernel in self.covar_module.modules()
        )
        return "moment-matched" if matched else "exact"

    @property
    def raw_targets(self) -> Tensor:
        """Targets in the units in which they came, ``batch x n x m``.

        To the last bit those given, unless the data were replaced since: transforming
        and back would turn a 0 into 1e-17.
        """
        z = self.train_targets
        z = z.transpose(-1, -2) if self.num_outputs > 1 else z.unsqueeze(-1)
        transform = getattr(self, "outcome_transform", None)
        Y = z if transform is None else transform.untransform(z)[0]
        given = self._given_targets.to(Y)
        if Y.shape != given.shape:
            return Y
        return given if recovered(transform, given, Y, z) else Y

    @classmethod
    def construct_inputs(
        cls,
        training_data: SupervisedDataset,
        *,
        structure: Structure | str = "Matern(2.5)",
        starts: int = 8,
        seed: int = 0,
        objective: str = "map",
        warm: Sequence[float] | None = None,
        categorical_features: Sequence[int] | None = None,
        fidelity_features: Sequence[int] | None = None,
        task_feature: int | None = None,
        hierarchical_dependencies: Any = None,
    ) -> dict[str, Any]:
        """Arguments from a dataset; columns are resolved among its feature names."""
        resolved = as_structure(structure).resolve(training_data.feature_names)
        return super().construct_inputs(training_data) | {
            "structure": str(resolved),
            "starts": starts,
            "seed": seed,
            "objective": objective,
            "warm": warm,
        }

    def subset_output(self, idcs: list[int]) -> StructuredGP:
        """A model of some of the outcomes, numbered from 0."""
        if self.num_outputs == 1 or idcs == list(range(self.num_outputs)):
            return cast(StructuredGP, super().subset_output(idcs))
        # BoTorch narrows the batch of a module once for each of its parameters, and
        # of one without parameters not at all: kernels take their own part.
        bare = deepcopy(self)
        del bare.covar_module
        subset = cast(StructuredGP, super(StructuredGP, bare).subset_output(idcs))
        chosen = idcs if len(idcs) > 1 else idcs[0]
        inputs = (slice(None),) * len(self._input_batch_shape)
        subset.covar_module = self.covar_module[(*inputs, chosen)]
        subset._given_targets = self._given_targets[..., idcs]
        results, m = self.fit_results, self.num_outputs
        subset.fit_results = tuple(
            results[first + i] for first in range(0, len(results), m) for i in idcs
        )
        return subset

    def posterior(  # type: ignore[override]
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> GPyTorchPosterior | TransformedPosterior:
        """The posterior at ``b x q x d`` points, ``b x q x m``.

        Args:
            X: Points, in raw units.
            output_indices: Outcomes wanted; all by default.
            observation_noise: Whether to add the noise, or variances to add,
                ``b x q x m`` in the outcome-transformed space.
            posterior_transform: Applied last.
        """
        model = self
        if output_indices is not None and self.num_outputs > 1:
            # BoTorch's own way fails for one outcome and under Standardize.
            model = self.subset_output(output_indices)
            if isinstance(observation_noise, Tensor):
                observation_noise = observation_noise[..., output_indices]
        return super(StructuredGP, model).posterior(
            X,
            observation_noise=observation_noise,
            posterior_transform=posterior_transform,
        )

    def theta(self) -> Tensor:
        """The hyperparameters in float64 and unconstrained coordinates, ``k``.

        Those of the last fit to the last bit, unless they were changed since: a
        float32 model keeps them rounded.
        """
        theta = self.log_posterior().get()
        if self.fit_result is None or len(self.fit_result.theta) != len(theta):
            return theta
        fitted = theta.new_tensor(self.fit_result.theta)
        return fitted if torch.allclose(fitted, theta, 1e-6, 1e-6) else theta

    def log_posterior(self, use_prior: bool = True) -> LogPosterior:
        """The objective of this model, in its own transformed units, float64.

        A model with several outcomes or a batch has one objective per element: see
        `log_posteriors`.
        """
        X, z = self._transformed_data()
        return LogPosterior(
            self.mean_module, self.covar_module, self.likelihood, X, z, use_prior
        )

    def log_posteriors(self, use_prior: bool = True) -> list[LogPosterior]:
        """One objective for each batch element and outcome, over copies of modules."""
        X, z = self._transformed_data()
        elements = []
        for index in itertools.product(*(range(s) for s in self._aug_batch_shape)):
            mean = self._element(self.mean_module, index)
            likelihood: GaussianNoise
            if isinstance(self.likelihood, FixedNoiseGaussianLikelihood):
                likelihood = known_noise_of(self.likelihood, index)
            else:
                likelihood = self._element(self.likelihood, index)
            kernel = self.covar_module[index]
            elements.append(
                LogPosterior(mean, kernel, likelihood, X[index], z[index], use_prior)
            )
        return elements

    def custom_fit(
        self, mll: MarginalLogLikelihood, warm: Tensor | None = None, **kwargs: Any
    ) -> MarginalLogLikelihood:
        """Multi-start MAP; what `fit_gpytorch_mll` calls.

        Args:
            mll: Of this model; only carried through.
            warm: ``w x k`` further starts.
            **kwargs: BoTorch's optimiser options, which have no meaning here.

        Raises:
            ModelFittingError: If it cannot be fitted, for whatever reason.
        """
        try:
            self.fit(warm=warm)
        except (BokernError, RuntimeError, ValueError) as error:
            raise ModelFittingError(str(error)) from error
        return mll.eval()

    def fit(self, warm: Tensor | None = None) -> StructuredGP:
        """Fits the hyperparameters and returns the model, ready to predict.

        Args:
            warm: ``w x k`` further starts.

        Raises:
            FitError: If no start has a finite objective.
            TimeLimitError: If it takes longer than a surrounding `time_limit`.
        """
        use_prior = self.objective == "map"
        if self._aug_batch_shape:
            whole = self.log_posterior(use_prior)
            parts = self.log_posteriors(use_prior)
            self.fit_results = tuple(self._fit_one(p, warm) for p in parts)
            thetas = [whole.z.new_tensor(r.theta) for r in self.fit_results]
            whole.set(torch.stack(thetas).reshape(*self._aug_batch_shape, -1))
        else:
            objective = self.log_posterior(use_prior)
            self.fit_results = (self._fit_one(objective, warm),)
        self.train()
        self.eval()
        return self

    def _fit_one(self, objective: LogPosterior, warm: Tensor | None) -> FitResult:
        seed = seeding.spawn("fit", self.seed, self.structure)
        starts = self.starts
        own = objective.z.new_tensor([self.warm or ()])
        if own.shape[-1] == objective.dim and own.isfinite().all():
            starts = min(starts, WARM_STARTS)
            warm = own if warm is None else torch.cat([own, warm.to(own)])
        return fit_map(objective, starts=starts, seed=seed, warm=warm)

    def _element(self, module: ModuleT, index: tuple[int, ...]) -> ModuleT:
        """A copy of a mean or likelihood with the parameters of one batch element."""
        element = deepcopy(module)
        for name, parameter in element.named_parameters():
            if parameter.shape[: len(index)] != self._aug_batch_shape:
                raise ShapeError(
                    f"{type(module).__name__} is expected with the batch shape "
                    f"{tuple(self._aug_batch_shape)} of the model, got a {name} of "
                    f"shape {tuple(parameter.shape)}: build it with batch_shape="
                )
            parameter.data = parameter.data[index]
        if isinstance(element, ZeroMean):
            element.batch_shape = torch.Size()
        return element

    def _transformed_data(self) -> tuple[Tensor, Tensor]:
        training = self.training
        self.train()
        with torch.no_grad():
            X = self.transform_inputs(self.train_inputs[0])
        z = self.train_targets
        self.train(training)
        return X.double(), z.double()
