"""Deep kernel learning, [DKL]: a GP on two features of a network."""

from __future__ import annotations

from functools import partial
from typing import Any

import gpytorch
import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import GridInterpolationKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.mlls import ExactMarginalLogLikelihood, VariationalELBO
from gpytorch.models import GP, ExactGP
from gpytorch.utils.grid import ScaleToBounds
from torch import Tensor, nn

from benchmarks.predictive import Predictions
from benchmarks.uci.clock import Clock
from benchmarks.uci.fitted import Fitted, noise_sd, predict_blocks
from benchmarks.uci.structured import structured
from benchmarks.uci.svgp import SVGP, batch_size
from benchmarks.uci.training import descend, minibatches

WIDTHS, FEATURES = (1000, 500, 50), 2
GRID = 100
"""Points of the interpolation grid a feature."""

PLACES = 16
"""Inducing points a feature of the variational form, on a grid to begin with."""

RATE, WEIGHT_DECAY = 0.01, 1e-4
STEPS, VARIATIONAL_STEPS = 500, 5000
SMALL = 2000
"""Up to so many rows the marginal likelihood of all of them is used: 500 steps of
more take longer than the limit."""


class Network(nn.Sequential):
    """Fully connected, with ReLU, its features scaled to the square.

    Args:
        dim: Number of inputs.
    """

    def __init__(self, dim: int) -> None:
        sizes = (dim, *WIDTHS)
        layers: list[nn.Module] = []
        for before, after in zip(sizes, WIDTHS, strict=False):
            layers += [nn.Linear(before, after), nn.ReLU()]
        layers += [nn.Linear(WIDTHS[-1], FEATURES), ScaleToBounds(-1.0, 1.0)]
        super().__init__(*layers)


class DeepKernelGP(ExactGP):
    """A GP with KISS-GP's grid over the features.

    Args:
        X: ``n x d``.
        y: ``n``.
        likelihood: Of the noise.
    """

    def __init__(self, X: Tensor, y: Tensor, likelihood: GaussianLikelihood) -> None:
        super().__init__(X, y, likelihood)
        self.network = Network(X.shape[1])
        self.mean_module = ConstantMean()
        bounds: Any = [(-1.0, 1.0)] * FEATURES
        self.covar_module = GridInterpolationKernel(
            ScaleKernel(RBFKernel(ard_num_dims=FEATURES)),
            grid_size=GRID,
            grid_bounds=bounds,
        )

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The prior at X."""
        features = self.network(X)
        mean, covariance = self.mean_module(features), self.covar_module(features)
        return MultivariateNormal(mean, covariance)


class VariationalDeepKernelGP(GP):
    """A variational GP over the features.

    Args:
        dim: Number of inputs.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.network = Network(dim)
        line = torch.linspace(-0.95, 0.95, PLACES)
        places = torch.cartesian_prod(*[line] * FEATURES)
        self.svgp = SVGP(places, ScaleKernel(RBFKernel(ard_num_dims=FEATURES)))

    def forward(self, X: Tensor) -> MultivariateNormal:
        """The law at X."""
        law: MultivariateNormal = self.svgp(self.network(X))
        return law


def fit_dkl(X: Tensor, y: Tensor, seed: int) -> Fitted:
    """In single precision as in GPyTorch's example, with Adam.

    Up to 2000 rows that example: KISS-GP over all rows. Beyond, minibatches and a
    variational GP over the features, as in GPyTorch's variational form of it.
    """
    torch.manual_seed(seed)
    small = len(y) <= SMALL
    return (_fit_grid if small else _fit_variational)(X.float(), y.float(), seed)


def _fit_grid(X: Tensor, y: Tensor, seed: int) -> Fitted:
    clock = Clock()
    likelihood = GaussianLikelihood()
    model = DeepKernelGP(X, y, likelihood)
    mll = ExactMarginalLogLikelihood(likelihood, model)

    def loss() -> Tensor:
        value: Any = mll(model(X), y)
        return -value

    with structured():
        steps = descend(loss, _adam(mll, model.network), STEPS, clock)
    return Fitted(
        partial(_predict_grid, model, likelihood),
        noise_sd(likelihood),
        steps < STEPS,
        {"form": "KISS-GP", "grid": GRID, "steps": steps, **_settings(X)},
    )


def _fit_variational(X: Tensor, y: Tensor, seed: int) -> Fitted:
    clock = Clock()
    likelihood = GaussianLikelihood()
    model = VariationalDeepKernelGP(X.shape[1])
    elbo = VariationalELBO(likelihood, model.svgp, len(y))
    size = batch_size(len(y))
    batches = minibatches(X, y, size, seed)

    def loss() -> Tensor:
        inputs, targets = next(batches)
        value: Any = elbo(model(inputs), targets)
        return -value

    steps = descend(loss, _adam(elbo, model.network), VARIATIONAL_STEPS, clock)
    settings = {"inducing": PLACES**FEATURES, "batch": size, "steps": steps}
    return Fitted(
        partial(predict_blocks, model, likelihood),
        noise_sd(likelihood),
        steps < VARIATIONAL_STEPS,
        {"form": "variational", **settings, **_settings(X)},
    )


def _predict_grid(
    model: DeepKernelGP, likelihood: GaussianLikelihood, X: Tensor
) -> Predictions:
    with structured(), gpytorch.settings.fast_pred_var():
        return predict_blocks(model, likelihood, X)


def _adam(objective: nn.Module, network: Network) -> torch.optim.Optimizer:
    """All parameters, with those of the network drawn towards zero."""
    own = list(network.parameters())
    rest = [p for p in objective.parameters() if not any(p is q for q in own)]
    groups: list[dict[str, Any]] = [
        {"params": own, "weight_decay": WEIGHT_DECAY},
        {"params": rest},
    ]
    return torch.optim.Adam(groups, lr=RATE)


def _settings(X: Tensor) -> dict[str, Any]:
    return {
        "network": [X.shape[1], *WIDTHS, FEATURES],
        "by": f"Adam {RATE}, decayed",
        "dtype": str(X.dtype),
    }
