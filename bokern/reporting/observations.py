"""A fitted model with the data it was fitted to, in raw units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import Model
from numpy.typing import NDArray
from torch import Tensor

from bokern.errors import InputError
from bokern.evidence.data import raw_data
from bokern.models import MixtureGP, StructuredGP
from bokern.reporting.axes import Axis
from bokern.reporting.results import ComparisonLike
from bokern.selection.wording import spelled
from bokern.structures import Structure

__all__ = ["Observed", "of_comparison", "of_model"]

LONGEST = 160
"""Characters of a structure in a caption."""

NEAR = 0.25
"""Distance per other parameter, in lengths of its axis, at which a point is faint."""


@dataclass(frozen=True)
class Observed:
    """A model and its data.

    Attributes:
        model: A fitted model of one output.
        X: Inputs as the model reads them, n x d.
        y: Targets, n, raw units.
        bounds: The box of the inputs, 2 x d.
        column_names: Names of the inputs.
        target_name: Name of the target.
        axes: The parameters, of one or more inputs each.
        places: Of the observations on the axes, n x p.
        best: Row of the best observation; None if no direction is known.
        remark: What a reader should know of the model, in a sentence, or nothing.
    """

    model: Model
    X: Tensor
    y: Tensor
    bounds: Tensor
    column_names: tuple[str, ...]
    target_name: str
    axes: tuple[Axis, ...]
    places: NDArray[np.float64]
    best: int | None = None
    remark: str = ""

    def inputs(self, places: NDArray[np.float64]) -> Tensor:
        """What the model reads at places, m x p, as m x d."""
        parts = [
            axis.encode(column)
            for axis, column in zip(self.axes, places.T, strict=True)
        ]
        return torch.as_tensor(np.concatenate(parts, axis=1)).to(self.X)

    def axis(self, name: str) -> int:
        """The number of a parameter.

        Raises:
            InputError: If there is none of that name.
        """
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise InputError(f"expected a parameter among {names}, got {name!r:.60}")
        return names.index(name)

    @property
    def described(self) -> str:
        """The structure of the model, with the names of its columns; empty if none."""
        structure = getattr(self.model, "structure", None)
        if not isinstance(structure, Structure):
            return ""
        text = spelled(structure, self.column_names)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

    def nearness(
        self,
        reference: NDArray[np.float64],
        drawn: tuple[int, ...],
        faintest: float = 0.12,
    ) -> list[float]:
        """Opacity of each observation: .9 on a slice, less the further from it.

        Args:
            reference: The place through which it goes, p.
            drawn: Axes along which it extends.
            faintest: Opacity far from it.
        """
        away = [
            axis.away(self.places[:, i], reference[i])
            for i, axis in enumerate(self.axes)
            if i not in drawn
        ]
        if not away:
            return [0.9] * len(self.y)
        distance = np.square(away).mean(0)
        near = np.exp2(-distance / NEAR**2)
        shown = faintest + (0.9 - faintest) * near
        opacity: list[float] = shown.round(3).tolist()
        return opacity


def of_comparison(found: ComparisonLike) -> Observed:
    """The best model of a comparison, and its data."""
    names = tuple(map(str, found.column_names))
    X, bounds = found.X.detach().cpu(), found.bounds.detach().cpu()
    return Observed(
        model=found.model(),
        X=X,
        y=found.y.detach().cpu().reshape(-1),
        bounds=bounds,
        column_names=names,
        target_name=str(found.target_name),
        axes=_plain(names, bounds),
        places=X.double().numpy(),
    )


def of_model(model: Model) -> Observed:
    """A fitted model, and its data, detached and on the CPU.

    Raises:
        InputError: If it is no such model, or has several outputs.
    """
    if not isinstance(model, GPyTorchModel):
        raise InputError(
            "expected a comparison or a fitted model, got "
            f"{type(model).__name__}; pass what bokern.compare or bokern.fit returns"
        )
    data: Any = model.members[0] if isinstance(model, MixtureGP) else model
    if model.num_outputs != 1 or data.batch_shape:
        raise InputError(
            f"expected a model of one output, got {model.num_outputs} outputs and "
            f"batch shape {tuple(model.batch_shape)}; draw its members one by one"
        )
    X, y = raw_data(data) if isinstance(data, StructuredGP) else _foreign_data(data)
    X, y = X.detach().cpu(), y.detach().cpu()
    bounds = getattr(data, "bounds", None)
    if bounds is None:
        bounds = torch.stack([X.amin(0), X.amax(0)])
    bounds = bounds.detach().cpu()
    names = getattr(data, "column_names", None) or tuple(
        f"x{column}" for column in range(X.shape[-1])
    )
    target = str(getattr(data, "target_name", "y"))
    axes, places = _plain(tuple(names), bounds), X.double().numpy()
    return Observed(model, X, y, bounds, tuple(names), target, axes, places)


def _plain(names: tuple[str, ...], bounds: Tensor) -> tuple[Axis, ...]:
    """An axis for each input."""
    return tuple(
        Axis(name, low, high)
        for name, low, high in zip(names, *bounds.tolist(), strict=True)
    )


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
