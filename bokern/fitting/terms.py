"""The modules that hold hyperparameters, to be called with others in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import Mean
from torch import Tensor, nn
from torch.func import functional_call

from bokern.kernels import StructureKernel

GaussianNoise = GaussianLikelihood | FixedNoiseGaussianLikelihood
Answer = TypeVar("Answer")


class Terms(nn.Module):
    """All that depends on hyperparameters, under one roof for functional calls."""

    mean_module: Mean
    covar_module: StructureKernel
    likelihood: GaussianNoise

    def __init__(
        self,
        mean_module: Mean,
        covar_module: StructureKernel,
        likelihood: GaussianNoise,
    ) -> None:
        super().__init__()
        self.mean_module = mean_module
        self.covar_module = covar_module
        self.likelihood = likelihood

    def forward(self, ask: Callable[[Terms], Answer]) -> Answer:
        """What is asked of the modules, of the values that stand in them."""
        return ask(self)

    def at(self, raw: dict[str, Tensor], ask: Callable[[Terms], Answer]) -> Answer:
        """What is asked of the modules with raw values in place of their own."""
        return cast(Answer, functional_call(self, raw, (ask,), tie_weights=False))

    def mean_and_noise(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Prior mean and noise variances at X, of a shape that broadcasts."""
        noise = self.likelihood.noise
        noise = noise.expand(*noise.shape[:-1], X.shape[-2])
        return cast(Tensor, self.mean_module(X)), noise

    def priors(self) -> tuple[tuple[Any, Tensor], ...]:
        """Each prior and the value of which it is one."""
        return tuple(
            (prior, closure(module))
            for child in (self.mean_module, self.covar_module, self.likelihood)
            for _, module, prior, closure, _ in child.named_priors()
        )
