"""An Ax experiment that mirrors a study, and from which its candidates come.

It depends on the events of the study alone: trials enter it from the log, whoever made
them, and with them what the node remembered of the structures. So a study that was
opened again goes on as if it had never been closed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ax.api.client import Client
from ax.core.arm import Arm
from ax.core.data import Data, DataRow
from ax.core.generator_run import GeneratorRun
from ax.core.parameter_constraint import ParameterConstraint
from ax.core.trial import Trial as AxTrial
from ax.exceptions.core import AxError, OptimizationComplete

from bokern.ax import StructureNode, generation_strategy, record_of
from bokern.ax.choice import AUTO, offered
from bokern.ax.columns import in_space
from bokern.ax.occupied import is_exhausted
from bokern.ax.record import KEY
from bokern.errors import ExhaustedError, SpaceError
from bokern.optimize.constraints import Linear, is_plain_word
from bokern.optimize.initial import initial_point
from bokern.optimize.objectives import VALUE
from bokern.optimize.quiet import quiet_ax
from bokern.optimize.settings import Options, Problem
from bokern.optimize.source import source_of
from bokern.optimize.space import Parameter, Value
from bokern.optimize.trial import COMPLETED, FAILED, PENDING, Trial
from bokern.selection import Comparison

METRIC = "objective"
"""What Ax calls the one outcome that has no name."""

SMALL = 1e-6
"""What spreads over less, or over more than its reciprocal, is scaled for Ax."""

NARROW = 1e-3
"""The same of ranges of parameters."""

STEP = 20
"""Powers of 2 between scales, so that they seldom change."""


@dataclass(frozen=True)
class Candidate:
    """A point to be evaluated.

    Args:
        parameters: All of them, the fixed ones included.
        generator: ``"sobol"``, ``"symmetry test"``, or the structure of largest weight.
        structure: All structures behind it, with their weights.
        record: What the node remembers, as JSON.
    """

    parameters: dict[str, Value]
    generator: str = "sobol"
    structure: str = ""
    record: Mapping[str, Any] | None = None


class Mirror:
    """The experiment and its strategy.

    Args:
        problem: What is optimised.
        options: How candidates are chosen.
        executor: Where structures are searched; here if None.

    Raises:
        StructureError: If a structure is malformed.
        GroupError: If a group does not map the space to itself, or is too large.
        ColumnError: If a structure names a parameter that is not there, or is fixed.
        SpaceError: If the acquisition cannot serve the objectives and constraints.
    """

    def __init__(
        self, problem: Problem, options: Options, executor: Executor | None = None
    ) -> None:
        self.problem = problem
        self.options = options
        self.metrics = _metrics(problem.outcomes)
        self._units = {
            p.name: unit for p in problem.searched if (unit := _unit(p)) != 1.0
        }
        self._factor = dict.fromkeys(problem.outcomes, 1.0)
        self._is_known = dict.fromkeys(problem.outcomes, True)
        self._index: dict[int, int] = {}
        self._trials: dict[int, Trial] = {}
        structures = AUTO if options.structures == (AUTO,) else options.structures
        with quiet_ax():
            self.client = Client()
            self._declare()
            self._optimize()
            self._constrain()
            self.client.set_generation_strategy(
                generation_strategy(
                    structures,
                    options.acquisition,
                    options.selection,
                    initial=0,
                    seed=options.seed,
                    acquisition_options=options.acquisition_options or None,
                    executor=executor,
                )
            )
        self._node()._acquisition(self._experiment)
        for structure in offered(structures):
            in_space(structure, self._experiment.search_space)

    @property
    def _experiment(self) -> Any:
        return self.client._experiment

    def _node(self) -> StructureNode:
        (node,) = self.client._generation_strategy._nodes
        assert isinstance(node, StructureNode)
        return node

    def _declare(self) -> None:
        parameters = [_scaled(p).to_ax() for p in self.problem.searched]
        try:
            self.client.configure_experiment(name="study", parameters=parameters)
        except AxError as error:  # such as a range that is very narrow
            raise SpaceError(f"Ax refuses the space: {error}") from error

    def _optimize(self) -> None:
        names = self.metrics
        self.client.configure_optimization(
            objective=", ".join(
                f"-{names[o.name]}" if o.minimize else names[o.name]
                for o in self.problem.objectives
            ),
            outcome_constraints=[
                _bound(c, names, self._factor) for c in self.problem.outcome_constraints
            ],
        )

    def _constrain(self) -> None:
        found = [
            ParameterConstraint(inequality=_text(c, self._units))
            for c in self.problem.constraints
        ]
        if found:
            self._experiment.search_space.add_parameter_constraints(found)

    # -- the past ------------------------------------------------------------------

    def take(self, trials: Iterable[Trial]) -> None:
        """Takes over trials that are new or have changed."""
        done: list[tuple[AxTrial, Trial]] = []
        for trial in sorted(trials, key=lambda t: t.id):
            if trial.id not in self._index:
                self._begin(trial)
            mine = self._experiment.trials[self._index[trial.id]]
            was = self._trials.get(trial.id)
            self._trials[trial.id] = trial
            if trial.status == PENDING or (was and was.status != PENDING):
                continue
            done.append((mine, trial))
        rows: list[DataRow] = []
        factors, known = self._factors(), self._known()
        again = (factors, known) != (self._factor, self._is_known)
        if again:
            self._factor, self._is_known = factors, known
            self._optimize()
        for trial in self._trials.values() if again else [t for _, t in done]:
            rows += self._rows(trial)
        if rows:
            self._experiment.attach_data(Data(data_rows=rows))
        for mine, trial in done:
            if trial.status == COMPLETED:
                mine.mark_completed()
            else:
                mine.mark_failed(reason=trial.reason)

    def _begin(self, trial: Trial) -> None:
        searched = {
            p.name: trial.parameters[p.name] * self._units[p.name]  # type: ignore[operator]
            if p.name in self._units
            else trial.parameters[p.name]
            for p in self.problem.searched
        }
        run = GeneratorRun(
            arms=[Arm(parameters=searched)],
            gen_metadata=None if trial.record is None else {KEY: dict(trial.record)},
        )
        mine = self._experiment.new_trial(generator_run=run)
        mine.mark_running(no_runner_required=True)
        self._index[trial.id] = mine.index

    def _factors(self) -> dict[str, float]:
        """By outcome, what Ax's values are multiplied by: a power of 2, 1 if it can be.

        Ax and BoTorch take a spread below 1e-8 for none, and square the values.
        """
        found = {}
        for name in self.problem.outcomes:
            values = [t.values[name] for t in self._trials.values() if t.values]
            spread = max(values, default=0.0) - min(values, default=0.0)
            found[name] = _power(spread, SMALL)
        return found

    def _known(self) -> dict[str, bool]:
        """By outcome, whether the noise of each of its values is known.

        A model takes all of them or infers one for all.
        """
        done = [t for t in self._trials.values() if t.values]
        return {
            name: all(t.sems.get(name) is not None for t in done)
            for name in self.problem.outcomes
        }

    def _rows(self, trial: Trial) -> list[DataRow]:
        mine = self._experiment.trials[self._index[trial.id]]
        assert mine.arm is not None
        rows = []
        for name, value in trial.values.items():
            metric = self._experiment.metrics[self.metrics[name]]
            factor = self._factor[name]
            sem = trial.sems.get(name) if self._is_known[name] else None
            rows.append(
                DataRow(
                    trial_index=mine.index,
                    arm_name=mine.arm.name,
                    metric_name=metric.name,
                    metric_signature=metric.signature,
                    mean=factor * value,
                    se=math.nan if sem is None else factor * sem,
                )
            )
        return rows

    # -- the next ------------------------------------------------------------------

    def propose(self) -> Candidate:
        """The next point to evaluate.

        Raises:
            ExhaustedError: If every point of a finite space was tried.
        """
        with quiet_ax():
            if is_exhausted(self._experiment):
                raise ExhaustedError(
                    "every point of the space has been tried or is pending: none is "
                    "left to ask for; begin a study with a wider space, and add these "
                    "trials to it"
                )
            if self._is_initial():
                tried = [t.parameters for t in self._trials.values()]
                return Candidate(initial_point(self.problem, self.options.seed, tried))
            try:
                strategy = self.client._generation_strategy
                run = strategy.gen_single_trial(experiment=self._experiment)
            except OptimizationComplete as stop:
                raise ExhaustedError(f"no point is left to ask for: {stop}") from stop
        generator, structure = source_of(run, self._first)
        record = record_of(run)
        found = run.arms[0].parameters
        return Candidate(
            {p.name: self._value(p, found) for p in self.problem.parameters},
            generator,
            structure,
            None if record is None else record.to_json(),
        )

    def _value(self, parameter: Parameter, found: Mapping[str, Any]) -> Value:
        """A parameter's value at a point of Ax's."""
        name = parameter.name
        if parameter.is_fixed:
            return parameter.values[0]
        if name not in self._units:
            return parameter.check(found[name])
        assert parameter.bounds is not None
        low, high = parameter.bounds
        return min(max(found[name] / self._units[name], low), high)

    def _is_initial(self) -> bool:
        """Whether there are too few trials for a model."""
        wanted = self.options.initial
        statuses = [t.status for t in self._trials.values()]
        begun = len(statuses) - statuses.count(FAILED)
        return begun < wanted or statuses.count(COMPLETED) < max(1, wanted // 2)

    @property
    def _first(self) -> str:
        """What Ax calls the first objective."""
        return self.metrics[self.problem.objectives[0].name]

    @property
    def comparison(self) -> Comparison | None:
        """The last comparison of the first objective, if made in this process."""
        return self._node().comparisons.get(self._first)


def _metrics(outcomes: Iterable[str]) -> dict[str, str]:
    """What Ax calls each outcome: itself, if Ax can read it, else a word."""
    found: dict[str, str] = {}
    for number, name in enumerate(outcomes):
        alias = name if is_plain_word(name) else f"outcome_{number}"
        while alias in found.values() or alias == METRIC:
            alias += "_"
        found[name] = METRIC if name == VALUE else alias
    return found


def _text(constraint: Linear, units: Mapping[str, float]) -> str:
    """A constraint on parameters as Ax reads it: no exponents, of moderate size."""
    weights = {name: w / units.get(name, 1.0) for name, w in constraint.weights}
    size = max(map(abs, weights.values()))
    terms = [f"{_digits(weight / size)}*{name}" for name, weight in weights.items()]
    return f"{' + '.join(terms)} <= {_digits(constraint.bound / size)}"


def _power(spread: float, least: float) -> float:
    """What a spread is multiplied by to be neither small nor large: a power of 2."""
    if not spread > 0.0 or least < spread < 1.0 / least:
        return 1.0
    return float(2.0 ** (-STEP * round(math.log2(spread) / STEP)))


def _unit(parameter: Parameter) -> float:
    """What Ax's values of a parameter are multiplied by: 1 if they can be.

    Ax refuses ranges narrower than 1e-5. It depends on the range alone, so that
    parameters with the same one stay alike. Wide log scales Ax can take.
    """
    if parameter.bounds is None or parameter.kind != "float":
        return 1.0
    width = parameter.bounds[1] - parameter.bounds[0]
    return 1.0 if parameter.log and width > NARROW else _power(width, NARROW)


def _scaled(parameter: Parameter) -> Parameter:
    """The parameter as Ax knows it."""
    unit = _unit(parameter)
    if parameter.bounds is None or unit == 1.0:
        return parameter
    low, high = parameter.bounds
    return replace(parameter, bounds=(unit * low, unit * high))


def _bound(
    constraint: Linear, names: Mapping[str, str], factor: Mapping[str, float]
) -> str:
    """A constraint on an outcome as Ax reads it."""
    ((name, weight),) = constraint.weights
    relation = "<=" if weight > 0 else ">="
    bound = factor[name] * (constraint.bound / weight)
    return f"{names[name]} {relation} {_digits(bound)}"


def _digits(number: float) -> str:
    return np.format_float_positional(number, trim="0")
