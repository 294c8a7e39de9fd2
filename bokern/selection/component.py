"""One of the functions that a fitted prior adds up, in the units of the user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from bokern.inputs import Observations
from bokern.models import StructuredGP
from bokern.selection.axes import Axes, percent
from bokern.selection.decomposition import Decomposition
from bokern.selection.units import Units
from bokern.selection.wording import phrase, slopes_in_words, spelled
from bokern.structures import Linear

FINE, COARSE = 401, 81
"""Points of a slice, of one input and of several."""


@dataclass(frozen=True, eq=False)
class Slice:
    """A component along one input, the others at the reference point.

    Args:
        column: Name of the input.
        grid: ``m`` values of it, raw units.
        mean: Of the component there, ``m``.
        sd: Posterior standard deviation, ``m``.
        shape_sd: That of the component less its average over the data, ``m``: its
            level can hardly be told from those of the others.
    """

    column: str
    grid: Tensor
    mean: Tensor
    sd: Tensor
    shape_sd: Tensor


@dataclass(frozen=True, eq=False)
class Component:
    """One of the independent functions that add up.

    Args:
        structure: Text of its prior.
        phrase: What it is, in words and raw units.
        share: Of the variance; see `Shares`.
        mean: Posterior mean at the data, ``n``.
        sd: Posterior standard deviation at the data, ``n``.
        slices: Along each input that it reads.
        slopes: Of a linear trend: input, rise per unit of it, standard deviation.
    """

    structure: str
    phrase: str
    share: float
    mean: Tensor
    sd: Tensor
    slices: tuple[Slice, ...]
    slopes: tuple[tuple[str, float, float], ...] = ()

    @property
    def sentence(self) -> str:
        """What it is, and its share."""
        text = self.phrase[:1].upper() + self.phrase[1:]
        if self.slopes:
            text += f", {slopes_in_words(self.slopes)}"
        return f"{text}: {percent(self.share)} of the variance."

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, text and lists, ready for JSON."""
        return {
            "structure": self.structure,
            "phrase": self.phrase,
            "share": self.share,
            "slopes": [
                {"column": name, "slope": slope, "standard_deviation": sd}
                for name, slope, sd in self.slopes
            ],
            "mean": self.mean.tolist(),
            "sd": self.sd.tolist(),
            "slices": [
                {
                    "column": s.column,
                    "grid": s.grid.tolist(),
                    "mean": s.mean.tolist(),
                    "sd": s.sd.tolist(),
                    "shape_sd": s.shape_sd.tolist(),
                }
                for s in self.slices
            ],
        }


class Parts:
    """The terms of a fitted model in the units of the user.

    Args:
        model: Fitted.
        data: What to, raw units.
        reference: The point through which slices go, ``d``, raw units.

    Attributes:
        decomposition: In the model's units.
        data: The observations that it is on.
        units: Those of the user.
        shares: Of the variance.

    Raises:
        EvidenceError: If the model has several outcomes or a batch.
        FitError: If the covariance of its data cannot be factorised.
        InputError: If its outcome transform has no known units.
    """

    def __init__(
        self, model: StructuredGP, data: Observations, reference: Tensor
    ) -> None:
        self.decomposition = Decomposition(model)
        self.data = _on_rows(data, self.decomposition.rows)
        self.units = Units.of(model)
        self.shares = self.decomposition.shares()
        self._axes = Axes.of(data.column_names, data.bounds)
        self._low, high = data.bounds.to(self.decomposition.X)
        self._width = high - self._low
        self._reference = (reference.to(self._low) - self._low) / self._width

    @property
    def constant(self) -> float:
        """The constant mean."""
        return self.units.value(self.decomposition.level.mean()).item()

    @property
    def noise_sd(self) -> tuple[float, float]:
        """Least and largest standard deviation of the noise."""
        sd = self.decomposition.noise.sqrt() * self.units.scale
        return sd.min().item(), sd.max().item()

    @property
    def residual(self) -> Tensor:
        """What is left of the data."""
        return self.decomposition.residual().cpu() * self.units.scale

    def components(self) -> tuple[Component, ...]:
        """All of them, by falling share."""
        found = [self._component(i) for i in range(len(self.decomposition.terms))]
        return tuple(sorted(found, key=lambda c: -c.share))

    def _component(self, i: int) -> Component:
        term = self.decomposition.terms[i]
        columns = term.structure.columns_read(len(self._low))
        mean, sd = self._posterior(i, self.decomposition.X)
        linear = isinstance(term.structure, Linear)
        return Component(
            structure=spelled(term.structure, self._axes.names),
            phrase=phrase(term.structure, term.kernel, self._axes),
            share=self.shares.terms[i],
            mean=mean,
            sd=sd,
            slices=tuple(self._slice(i, column) for column in columns),
            slopes=tuple(self._slope(i, c) for c in columns) if linear else (),
        )

    def _posterior(self, i: int, points: Tensor) -> tuple[Tensor, Tensor]:
        mean, variance = self.decomposition.posterior(i, points)
        return mean.cpu() * self.units.scale, variance.sqrt().cpu() * self.units.scale

    def _slice(self, i: int, column: int) -> Slice:
        size = FINE if len(self._low) == 1 else COARSE
        steps = torch.linspace(0.0, 1.0, size).to(self._low)
        points = self._reference.repeat(size, 1)
        points[:, column] = steps
        grid = (self._low[column] + self._width[column] * steps).cpu()
        shape = self.decomposition.shape_variance(i, points).sqrt().cpu()
        return Slice(
            self._axes.names[column],
            grid,
            *self._posterior(i, points),
            shape * self.units.scale,
        )

    def _slope(self, i: int, column: int) -> tuple[str, float, float]:
        start, end = self._reference.clone(), self._reference.clone()
        start[column], end[column] = 0.0, 1.0
        rise, sd = self.decomposition.change(i, start, end)
        unit = self.units.scale / self._width[column].item()
        return self._axes.names[column], rise * unit, sd * unit


def _on_rows(data: Observations, rows: Tensor | None) -> Observations:
    """Some of the observations, or all of them."""
    if rows is None:
        return data
    noise = None if data.noise is None else data.noise[rows]
    return replace(data, X=data.X[rows], y=data.y[rows], noise=noise)
