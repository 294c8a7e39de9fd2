"""Deep kernel learning and a doubly stochastic deep GP, as GPyTorch's tutorials do."""

from __future__ import annotations

from typing import Any

import gpytorch
import torch
from botorch.acquisition.objective import PosteriorTransform
from botorch.models import SingleTaskGP
from botorch.models.model import Model
from botorch.models.transforms import Normalize, Standardize
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import Kernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean, LinearMean
from gpytorch.mlls import (
    DeepApproximateMLL,
    ExactMarginalLogLikelihood,
    VariationalELBO,
)
from gpytorch.models.deep_gps import DeepGP, DeepGPLayer
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy
from torch import Tensor, nn

from benchmarks.surrogates.data import Data
from benchmarks.tasks import Record

FEATURES, HIDDEN = 2, 32
KERNEL_STEPS, KERNEL_RATE, DECAY = 500, 0.01, 1e-4
LAYER_STEPS, LAYER_RATE = 1000, 0.01
TRAINING_SAMPLES, SAMPLES = 10, 100


class DeepKernel(Kernel):
    """An RBF of the features of a network, scaled to the cube.

    Args:
        dim: Number of inputs.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(dim, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, FEATURES),
        ).double()
        self.scale = gpytorch.utils.grid.ScaleToBounds(-1.0, 1.0)
        self.base = ScaleKernel(RBFKernel(ard_num_dims=FEATURES)).double()

    def forward(self, x1: Tensor, x2: Tensor, **params: Any) -> Any:  # type: ignore[override]
        """Covariances of the features."""
        features = [self.scale(self.network(x)) for x in (x1, x2)]
        return self.base.forward(*features, **params)


def fit_deep_kernel(data: Data, seed: int) -> tuple[Model, Record]:
    """Deep kernel learning: network and GP by the marginal likelihood, with Adam."""
    torch.manual_seed(seed)
    dim = data.X.shape[1]
    kernel = DeepKernel(dim)
    model = SingleTaskGP(
        data.X,
        data.y.unsqueeze(-1),
        covar_module=kernel,
        outcome_transform=Standardize(1),
        input_transform=Normalize(dim, bounds=_box(data)),
    )
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    groups: list[dict[str, Any]] = [
        {"params": kernel.network.parameters(), "weight_decay": DECAY},
        {"params": kernel.base.parameters()},
        {"params": model.mean_module.parameters()},
        {"params": model.likelihood.parameters()},
    ]
    optimizer = torch.optim.Adam(groups, lr=KERNEL_RATE)
    model.train()
    inputs: Any = model.train_inputs
    targets: Any = model.train_targets
    for _ in range(KERNEL_STEPS):
        optimizer.zero_grad()
        loss: Any = mll(model(*inputs), targets)
        (-loss).backward()
        optimizer.step()
    return model.eval(), {}


class Layer(DeepGPLayer):
    """One layer, with as many inducing points as there are data.

    Args:
        inducing: ``J x d``.
        outputs: Number of outputs; None for the last layer's one.
    """

    def __init__(self, inducing: Tensor, outputs: int | None) -> None:
        dim = inducing.shape[-1]
        batch = torch.Size([]) if outputs is None else torch.Size([outputs])
        points = inducing.expand(*batch, *inducing.shape).clone()
        q = CholeskyVariationalDistribution(len(inducing), batch_shape=batch)
        strategy = VariationalStrategy(self, points, q)
        super().__init__(strategy, dim, outputs)
        hidden = outputs is not None
        self.mean_module = LinearMean(dim) if hidden else ConstantMean()
        kernel = RBFKernel(batch_shape=batch, ard_num_dims=dim)
        self.covar_module = ScaleKernel(kernel, batch_shape=batch)

    def forward(self, x: Tensor) -> MultivariateNormal:
        """The prior at x."""
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


class TwoLayers(DeepGP):
    """As many hidden GPs as inputs, and one output, on the cube and z-scored.

    Args:
        X: ``n x d`` inputs of the cube.
    """

    def __init__(self, X: Tensor) -> None:
        super().__init__()
        self.hidden = Layer(X, X.shape[-1])
        self.last = Layer(X, None)
        self.likelihood = GaussianLikelihood()

    def forward(self, X: Tensor) -> Any:
        """Samples of the hidden layer through the last one."""
        return self.last(self.hidden(X))


class Averaged(Model):
    """Moments of the mixture over samples of the hidden layer."""

    def __init__(self, layers: TwoLayers, data: Data) -> None:
        super().__init__()
        self.layers = layers
        self.low, self.high = _box(data)
        self.shift, self.factor = data.y.mean(), data.y.std()

    @property
    def num_outputs(self) -> int:
        """One."""
        return 1

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> GPyTorchPosterior:
        """Of single points: mean and variance."""
        unit = (X - self.low) / (self.high - self.low)
        with torch.no_grad(), gpytorch.settings.num_likelihood_samples(SAMPLES):
            parts: Any = self.layers(unit)
            if observation_noise:
                parts = self.layers.likelihood(parts)
        mean = parts.mean.mean(0)
        variance = parts.variance.mean(0) + parts.mean.var(0, correction=0)
        covariance = torch.diag_embed(self.factor**2 * variance)
        return GPyTorchPosterior(
            MultivariateNormal(self.shift + self.factor * mean, covariance)
        )


def fit_deep_gp(data: Data, seed: int) -> tuple[Model, Record]:
    """Doubly stochastic variational inference, with Adam."""
    torch.manual_seed(seed)
    low, high = _box(data)
    X = (data.X - low) / (high - low)
    z = (data.y - data.y.mean()) / data.y.std()
    layers = TwoLayers(X).double()
    mll = DeepApproximateMLL(VariationalELBO(layers.likelihood, layers, len(z)))
    optimizer = torch.optim.Adam(layers.parameters(), lr=LAYER_RATE)
    for _ in range(LAYER_STEPS):
        with gpytorch.settings.num_likelihood_samples(TRAINING_SAMPLES):
            optimizer.zero_grad()
            loss: Any = mll(layers(X), z)
            (-loss).backward()
            optimizer.step()
    return Averaged(layers.eval(), data), {}


def _box(data: Data) -> Tensor:
    return torch.tensor(data.bounds, dtype=torch.float64).T
