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

from bokern.errors import InputError
from bokern.selection.attempt import Attempt
from bokern.selection.explanation import Explanation

__all__ = [
    "ComparisonLike",
    "ConstraintLike",
    "OptimizationLike",
    "ParameterLike",
    "StudyLike",
    "TrialLike",
    "optimization_of",
]


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

    def model(self, structure: Any = None) -> Model:
        """The fitted model of a structure; of the best by default."""

    def explain(self) -> Explanation:
        """The best structure taken apart."""


class ParameterLike(Protocol):
    """A parameter of a checked space."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """Type of its values."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Lower and upper bound of a range; None for values."""

    @property
    def log(self) -> bool:
        """Whether the range is on a log scale."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of a choice, the only one if it is fixed."""

    @property
    def ordered(self) -> bool:
        """Whether these have an order."""

    @property
    def is_fixed(self) -> bool:
        """Whether it has one value only."""


class ConstraintLike(Protocol):
    """``weights · names <= bound``, on outcomes."""

    @property
    def weights(self) -> tuple[tuple[str, float], ...]:
        """By name."""

    @property
    def bound(self) -> float:
        """What the weighted sum may be at most."""

    def keeps(self, values: Mapping[str, Any]) -> bool:
        """Whether values keep the constraint."""


class TrialLike(Protocol):
    """A trial, as a list of the best ones holds it."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def values(self) -> Mapping[str, float]:
        """Outcomes by name."""


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
    def objectives(self) -> Mapping[str, str]:
        """``"minimize"`` or ``"maximize"`` by the column of ``trials``."""

    @property
    def outcome_constraints(self) -> Sequence[ConstraintLike]:
        """Bounds on columns of ``trials``."""

    @property
    def pareto(self) -> Sequence[TrialLike]:
        """Trials that no other beats in all objectives."""

    @property
    def parameters(self) -> Sequence[ParameterLike]:
        """The search space, checked."""

    @property
    def leaderboard(self) -> DataFrame:
        """The structures compared last, for each outcome; empty if none were."""

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


@runtime_checkable
class StudyLike(Protocol):
    """An optimisation that goes on, as ``bokern.Study`` is."""

    @property
    def pending(self) -> Sequence[TrialLike]:
        """Trials under way."""

    def result(self) -> OptimizationLike:
        """What was found so far."""


def optimization_of(source: OptimizationLike | StudyLike) -> OptimizationLike:
    """An optimisation itself, or what a study has found so far.

    Raises:
        InputError: If it is neither.
    """
    if isinstance(source, StudyLike):
        return source.result()
    if isinstance(source, OptimizationLike):
        return source
    raise InputError(
        f"expected an optimisation or a study, got {type(source).__name__}; pass what "
        "bokern.minimize returns, or a bokern.Study"
    )
