"""The data a surrogate was fitted to, after Ax's transforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from ax.adapter.base import Adapter
from ax.generators.torch.botorch_modular.generator import BoTorchGenerator
from ax.generators.torch.botorch_modular.surrogate import Surrogate
from botorch.models import SingleTaskGP
from gpytorch.mlls import MarginalLogLikelihood
from torch import Tensor

from bokern.errors import DataError


@dataclass(frozen=True)
class MetricData:
    """What one metric's model has seen.

    Args:
        metric: Signature of the metric.
        X: ``n x d`` inputs after Ax's transforms, columns named.
        y: ``n`` targets after Ax's transforms.
        noise: ``n`` variances of the targets, or None where they are to be inferred.
        bounds: Lower and upper bound of each column, in the units of ``X``.
    """

    metric: str
    X: pd.DataFrame
    y: Tensor
    noise: Tensor | None
    bounds: list[tuple[float, float]]


class Unfitted(SingleTaskGP):
    """Stands in for a surrogate where only its training data are wanted."""

    def custom_fit(self, mll: MarginalLogLikelihood, **_: Any) -> MarginalLogLikelihood:
        """Leaves the hyperparameters as they are; what `fit_gpytorch_mll` calls."""
        return mll.eval()


def training_data(adapter: Adapter | None) -> list[MetricData]:
    """One entry a modelled metric, in Ax's order.

    Raises:
        DataError: If the adapter holds no fitted BoTorch surrogate.
    """
    generator = _generator(adapter)
    digest = generator.search_space_digest
    bounds = [(float(low), float(high)) for low, high in digest.bounds]
    found = []
    for dataset in generator.surrogate.training_data:
        frame = pd.DataFrame(dataset.X.cpu().numpy(), columns=dataset.feature_names)
        for column, metric in enumerate(dataset.outcome_names):
            noise = None if dataset.Yvar is None else dataset.Yvar[:, column]
            found.append(MetricData(metric, frame, dataset.Y[:, column], noise, bounds))
    return found


def surrogate_of(adapter: Adapter | None) -> Surrogate:
    """The fitted surrogate.

    Raises:
        DataError: If the adapter holds no fitted BoTorch surrogate.
    """
    return _generator(adapter).surrogate


def _generator(adapter: Adapter | None) -> BoTorchGenerator:
    generator = adapter.generator if adapter is not None else None
    if not isinstance(generator, BoTorchGenerator):
        raise DataError(
            "expected an adapter with a fitted BoTorch surrogate, got "
            f"{type(generator).__name__}: fit the generation node first"
        )
    return generator
