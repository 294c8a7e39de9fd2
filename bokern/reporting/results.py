"""What the figures and the page need to know of a result, and no more.

An optimisation result is made two layers further up, so it is known here by its
attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from botorch.models.model import Model
from pandas import DataFrame
from torch import Tensor

from bokern.selection.attempt import Attempt
from bokern.selection.explanation import Explanation

__all__ = ["ComparisonLike", "OptimizationLike"]


@runtime_checkable
class ComparisonLike(Protocol):
    """Ranked structures on one data set, as ``bokern.compare`` returns them."""

    @property
    def table(self) -> DataFrame:
        """One row a structure, the best first."""

    @property
    def evidences(self) -> Sequence[Any]:
        """The evidences, in the order of the table."""

    @property
    def failures(self) -> Sequence[tuple[str, str]]:
        """Structures that could not be fitted, with the reason."""

    @property
    def statement(self) -> str:
        """The result in a sentence."""

    @property
    def priors(self) -> DataFrame:
        """Structure, hyperparameter, prior and fitted value."""

    @property
    def column_names(self) -> Sequence[str]:
        """Names of the inputs."""

    @property
    def target_name(self) -> str:
        """Name of the target."""

    @property
    def bounds(self) -> Tensor:
        """The declared box, 2 x d, raw units."""

    @property
    def X(self) -> Tensor:  # noqa: N802
        """Inputs, n x d, raw units."""

    @property
    def y(self) -> Tensor:
        """Targets, n, raw units."""

    @property
    def notes(self) -> Sequence[str]:
        """What the reader should know, for instance where the box comes from."""

    @property
    def seed(self) -> int:
        """The seed of the starts."""

    @property
    def trace(self) -> Sequence[Attempt]:
        """What a search tried; empty for a plain comparison."""

    def model(self) -> Model:
        """The fitted model of the best structure."""

    def explain(self) -> Explanation:
        """The best structure taken apart."""


@runtime_checkable
class OptimizationLike(Protocol):
    """A finished optimisation, as ``bokern.minimize`` returns it."""

    @property
    def best_parameters(self) -> Mapping[str, Any]:
        """Where the best value was seen."""

    @property
    def best_value(self) -> float:
        """The best value seen, raw units."""

    @property
    def trials(self) -> DataFrame:
        """One row a trial: trial, parameters, value, status, generator and more."""

    @property
    def structure_history(self) -> DataFrame:
        """Probabilities of the structures by trial; empty if none were compared."""

    @property
    def comparison(self) -> Any:
        """The last comparison of structures, or None."""

    @property
    def optimum(self) -> float | None:
        """The known optimum, or None."""

    @property
    def space(self) -> Mapping[str, Any]:
        """The search space, as declared."""

    @property
    def notes(self) -> Sequence[str]:
        """What the reader should know, for instance an early stop."""

    @property
    def seed(self) -> int:
        """The seed of the optimisation."""
