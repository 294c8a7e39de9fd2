"""What a study is about, as it is written into its first event."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bokern.ax.acquisition import check_acquisition, check_options
from bokern.ax.choice import AUTO, Structures, check_selection, is_auto, offered
from bokern.errors import SpaceError, StorageError
from bokern.inputs import is_whole
from bokern.optimize.constraints import (
    Linear,
    read_constraints,
    read_outcome_constraints,
)
from bokern.optimize.objectives import (
    Objective,
    check_columns,
    check_outcome_name,
    read_objectives,
)
from bokern.optimize.space import Parameter, read_space

SCHEMA = 1
"""Version of the events. A study of a newer one is refused; older ones are read."""

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Problem:
    """What is optimised; it never changes.

    Args:
        parameters: The space.
        objectives: At least one.
        constraints: On parameters.
        outcome_constraints: On single outcomes.
    """

    parameters: tuple[Parameter, ...]
    objectives: tuple[Objective, ...]
    constraints: tuple[Linear, ...] = ()
    outcome_constraints: tuple[Linear, ...] = ()

    @staticmethod
    def read(space: Any, **described: Any) -> Problem:
        """A problem from what a user writes.

        Args:
            space: See `read_space`.
            **described: See `of`.

        Raises:
            SpaceError: What is malformed, and how to mend it.
        """
        return Problem.of(read_space(space), **described)

    @staticmethod
    def of(
        parameters: tuple[Parameter, ...],
        direction: Any = None,
        constraints: Sequence[str] | str | None = None,
        outcome_constraints: Sequence[str] | str | None = None,
    ) -> Problem:
        """A problem on parameters that are checked already.

        Args:
            parameters: The space.
            direction: See `read_objectives`; to minimise by default.
            constraints: Texts of constraints on parameters.
            outcome_constraints: Texts of constraints on outcomes.

        Raises:
            SpaceError: What is malformed, and how to mend it.
        """
        found = Problem(
            parameters,
            read_objectives("minimize" if direction is None else direction, parameters),
            read_constraints(constraints, parameters),
            read_outcome_constraints(outcome_constraints, parameters),
        )
        for name in found.outcomes:
            check_outcome_name(name, parameters)
        check_columns(found.outcomes, parameters)
        if len(found.objectives) == 1:
            for constraint in found.outcome_constraints:
                if constraint.weights[0][0] == found.objectives[0].name:
                    raise SpaceError(
                        f"{found.objectives[0].name!r} is the objective and cannot be "
                        "constrained too; with several objectives it can"
                    )
        return found

    @property
    def described(self) -> dict[str, Any]:
        """The arguments of `of` beside the parameters."""
        return {
            "direction": {o.name: o.direction for o in self.objectives},
            "constraints": [str(c) for c in self.constraints],
            "outcome_constraints": [str(c) for c in self.outcome_constraints],
        }

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return [p.name for p in self.parameters]

    @property
    def searched(self) -> list[Parameter]:
        """The parameters that are not fixed."""
        return [p for p in self.parameters if not p.is_fixed]

    @property
    def fixed(self) -> dict[str, Any]:
        """The values of those that are."""
        return {p.name: p.values[0] for p in self.parameters if p.is_fixed}

    @property
    def outcomes(self) -> list[str]:
        """Names of all outcomes, the objectives first."""
        constrained = [c.weights[0][0] for c in self.outcome_constraints]
        return list(dict.fromkeys([*(o.name for o in self.objectives), *constrained]))

    @property
    def size(self) -> int | None:
        """Number of points of a finite space; None if a parameter is continuous."""
        counts = [p.size for p in self.parameters]
        known = [count for count in counts if count is not None]
        return math.prod(known) if len(known) == len(counts) else None

    def changed(self, given: Mapping[str, Any]) -> Problem:
        """The problem with arguments of `of` that are not None put in their place."""
        kept = {k: v for k, v in given.items() if v is not None}
        return Problem.of(self.parameters, **{**self.described, **kept})

    def to_json(self) -> dict[str, Any]:
        """A JSON document that `from_json` reads back, with names in their order."""
        described = self.described
        return {
            **described,
            "space": [[p.name, p.to_json()] for p in self.parameters],
            "direction": list(map(list, described["direction"].items())),
        }

    @staticmethod
    def from_json(document: Any) -> Problem:
        """The problem that `to_json` described.

        Raises:
            SpaceError: If it is malformed.
            StorageError: If entries are missing.
        """
        try:
            described = dict(document)
            space = described.pop("space")
            direction = dict(described.pop("direction"))
            parameters = tuple(Parameter.from_json(name, each) for name, each in space)
            return Problem.of(parameters, direction, **described)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, SpaceError):
                raise
            raise StorageError(
                f"the description of the study cannot be read: {error!r}"
            ) from error

    def differences(self, other: Problem) -> list[str]:
        """What another problem has otherwise, a line each; none if it is the same."""
        lines = []
        mine = {p.name: p for p in self.parameters}
        theirs = {p.name: p for p in other.parameters}
        for name in dict.fromkeys([*mine, *theirs]):
            if mine.get(name) != theirs.get(name):
                lines.append(
                    f"parameter {name!r}: {_shown(mine.get(name))} stored, "
                    f"{_shown(theirs.get(name))} given"
                )
        for what in ("objectives", "constraints", "outcome_constraints"):
            stored, given = getattr(self, what), getattr(other, what)
            if set(stored) != set(given):
                lines.append(
                    f"{what.replace('_', ' ')}: {_listed(stored)} stored, "
                    f"{_listed(given)} given"
                )
        return lines


@dataclass(frozen=True)
class Options:
    """How candidates are chosen; it may change while a study goes on.

    Args:
        structures: ``["auto"]``, or texts of structures.
        acquisition: Its name.
        acquisition_options: Of it.
        selection: See `bokern.ax.generation_strategy`.
        initial: Scrambled Sobol points before the first model.
        seed: Of everything random.
    """

    structures: tuple[str, ...] = (AUTO,)
    acquisition: str = "logei"
    acquisition_options: Mapping[str, float] = field(default_factory=dict)
    selection: str = "draw"
    initial: int = 5
    seed: int = 0

    @staticmethod
    def read(given: Mapping[str, Any], before: Options) -> Options:
        """Options from what a user writes.

        Args:
            given: By name; None where nothing was.
            before: What stands where nothing was given.

        Raises:
            StructureError: If a structure is malformed.
            SpaceError: If anything else is.
        """
        found: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        unknown = set(found) - {f.name for f in fields(Options)}
        if unknown:
            raise SpaceError(f"unknown option {min(unknown)!r} of a study")
        if "structures" in found:
            found["structures"] = _texts(found["structures"])
        if "selection" in found:
            check_selection(found["selection"])
        for name, least in (("initial", 1), ("seed", 0)):
            value = found.get(name, least)
            if not (is_whole(value) and least <= value <= LARGEST_SEED):
                raise SpaceError(
                    f"{name}= is a whole number of {least} or more and below "
                    f"2**63, got {value!r:.60}"
                )
            if name in found:
                found[name] = int(value)
        acquisition = check_acquisition(found.get("acquisition", before.acquisition))
        if acquisition != before.acquisition:
            found.setdefault("acquisition_options", {})
        if "acquisition_options" in found:
            options = check_options(acquisition, found["acquisition_options"])
            found["acquisition_options"] = options
        return replace(before, **found)

    def to_json(self) -> dict[str, Any]:
        """A JSON document that `read` takes."""
        return {
            "structures": list(self.structures),
            "acquisition": self.acquisition,
            "acquisition_options": dict(self.acquisition_options),
            "selection": self.selection,
            "initial": self.initial,
            "seed": self.seed,
        }


def created(problem: Problem, options: Options) -> dict[str, Any]:
    """Details of the first event of a study."""
    return {
        "schema": SCHEMA,
        "identity": uuid.uuid4().hex,
        "problem": problem.to_json(),
        "options": options.to_json(),
    }


def read_created(details: Mapping[str, Any]) -> tuple[Problem, Options]:
    """Problem and options from the details of the first event.

    Raises:
        StorageError: If they are of a newer version, or malformed.
    """
    schema = details.get("schema")
    if schema is None or not is_whole(schema) or schema < 1:
        raise StorageError(
            f"the study is of version {schema!r:.40}, releases wrote 1 to {SCHEMA}: "
            "its first event is not that of a study"
        )
    if schema > SCHEMA:
        raise StorageError(
            f"the study is of version {schema}, this bokern reads up to {SCHEMA}: "
            "install the release that wrote it, or a newer one"
        )
    problem = Problem.from_json(details.get("problem"))
    options = details.get("options")
    if not isinstance(options, Mapping):
        raise StorageError("the options of the study are missing")
    return problem, Options.read(options, Options())


def first_options(given: Mapping[str, Any], problem: Problem) -> Options:
    """Options of a new study, from what a user writes; see `Options.read`."""
    initial = given["initial"]
    if initial is None:
        initial = default_initial(problem.parameters)
    return Options.read({**given, "initial": initial}, Options())


def default_initial(parameters: Sequence[Parameter]) -> int:
    """Sobol points before the first model: 5, or twice the searched parameters."""
    return max(5, 2 * sum(not p.is_fixed for p in parameters))


def _texts(structures: Structures) -> tuple[str, ...]:
    found = offered(structures)
    return (AUTO,) if is_auto(structures) else tuple(map(str, found))


def _shown(parameter: Parameter | None) -> str:
    if parameter is None:
        return "none"
    if parameter.bounds is None:
        values = list(parameter.values)
        return f"{values!r:.60}" + ("" if parameter.ordered else " without an order")
    log = " on a log scale" if parameter.log else ""
    return f"{parameter.kind} in {list(parameter.bounds)}{log}"


def _listed(things: Sequence[Linear] | Sequence[Objective]) -> str:
    texts = [
        f"{t.direction} {t.name}" if isinstance(t, Objective) else str(t)
        for t in things
    ]
    return ", ".join(texts) or "none"
