"""A fitted model with the data it was fitted to, in raw units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import Model
from torch import Tensor

from bokern.errors import InputError
from bokern.evidence.data import raw_data
from bokern.models import MixtureGP, StructuredGP
from bokern.reporting.results import ComparisonLike

__all__ = ["Observed", "observed"]


@dataclass(frozen=True)
class Observed:
    """A model and its data.

    Attributes:
        model: A fitted model of one output.
        X: Inputs, n x d, raw units.
        y: Targets, n, raw units.
        bounds: The box in which to draw, 2 x d, raw units.
        column_names: Names of the inputs.
        target_name: Name of the target.
    """

    model: Model
    X: Tensor
    y: Tensor
    bounds: Tensor
    column_names: tuple[str, ...]
    target_name: str


def observed(source: ComparisonLike | Model) -> Observed:
    """The model to draw, and its data.

    Args:
        source: A comparison, whose best model is taken, or a fitted model.

    Returns:
        Both, detached and on the CPU where they are data.

    Raises:
        InputError: If ``source`` is neither, or the model has several outputs.
    """
    if isinstance(source, ComparisonLike):
        return Observed(
            model=source.model(),
            X=source.X.detach().cpu(),
            y=source.y.detach().cpu().reshape(-1),
            bounds=source.bounds.detach().cpu(),
            column_names=tuple(source.column_names),
            target_name=str(source.target_name),
        )
    if not isinstance(source, GPyTorchModel):
        raise InputError(
            "expected a comparison or a fitted model, got "
            f"{type(source).__name__}; pass what bokern.compare or bokern.fit returns"
        )
    data: Any = source.members[0] if isinstance(source, MixtureGP) else source
    if source.num_outputs != 1 or data.batch_shape:
        raise InputError(
            f"expected a model of one output, got {source.num_outputs} outputs and "
            f"batch shape {tuple(source.batch_shape)}; draw its members one by one"
        )
    X, y = raw_data(data) if isinstance(data, StructuredGP) else _foreign_data(data)
    X, y = X.detach().cpu(), y.detach().cpu()
    bounds = getattr(data, "bounds", None)
    if bounds is None:
        bounds = torch.stack([X.amin(0), X.amax(0)])
    names = getattr(data, "column_names", None) or tuple(
        f"x{column}" for column in range(X.shape[-1])
    )
    target = str(getattr(data, "target_name", "y"))
    return Observed(source, X, y, bounds.detach().cpu(), tuple(names), target)


def _foreign_data(model: GPyTorchModel) -> tuple[Tensor, Tensor]:
    """Inputs and targets of a BoTorch model, before its transforms."""
    X: Tensor = model.train_inputs[0].detach()  # type: ignore[index]
    transform = getattr(model, "input_transform", None)
    if transform is not None and not model.training:
        X = transform.untransform(X)
    Y: Tensor = model.train_targets.detach().unsqueeze(-1)  # type: ignore[operator]
    outcome = getattr(model, "outcome_transform", None)
    if outcome is not None:
        Y = outcome.untransform(Y)[0]
    return X, Y.squeeze(-1)
