"""`minimize`: the whole loop, on Ax's client."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ax.api.client import Client
from ax.core.trial import Trial
from ax.exceptions.core import OptimizationComplete
from tqdm import tqdm

from bokern.ax import StructureNode, generation_strategy
from bokern.ax.choice import Structures, offered
from bokern.ax.columns import in_space
from bokern.ax.occupied import is_exhausted
from bokern.errors import SpaceError
from bokern.inputs import is_whole
from bokern.optimize.black_box import BlackBox, Outcome
from bokern.optimize.quiet import quiet_ax
from bokern.optimize.result import OptimizationResult
from bokern.optimize.space import Parameter, Value, read_points, read_space
from bokern.optimize.trials import TrialTable, source_of
from bokern.selection import Comparison

METRIC = "objective"


def minimize(
    f: Callable[..., Any],
    space: Mapping[str, Any],
    budget: int,
    *,
    structures: Structures = "auto",
    acquisition: str = "logei",
    selection: str = "draw",
    seed: int = 0,
    initial: int | Sequence[Mapping[str, Any]] | None = None,
    optimum: float | None = None,
    progress: bool | None = None,
    acquisition_options: Mapping[str, Any] | None = None,
) -> OptimizationResult:
    """Minimises a black box.

    An exception, NaN, an infinity or anything that is no number makes a failed trial:
    it counts towards the budget, is listed with its reason, and its place is avoided.
    An interruption from the keyboard, or any error outside the function, goes through
    with all that was found so far as its ``result`` attribute
    (``sys.last_value.result`` at the prompt).

    Args:
        f: Called as ``f(**parameters)`` if its signature names every parameter of the
            space (or takes ``**keywords``) and needs no others, else as
            ``f(parameters)`` with one dictionary.
        space: Parameters by name: ``(0.0, 1.0)`` is a range, ``(1, 10)`` a range of
            whole numbers, ``(1e-5, 1e-1, "log")`` one on a log scale, ``[1, 2, 4]``
            ordered values, ``choice("a", "b")`` unordered ones.
        budget: Number of evaluations in all, the initial ones included.
        structures: ``"auto"``, one structure or its text, or a list.
        acquisition: ``"logei"``, ``"qlognei"`` or ``"gp-ucb"``.
        selection: ``"winner"``, ``"mixture"`` for the evidence-weighted average, or
            ``"draw"`` for one drawn with its probability for each trial.
        seed: The run depends on it and on the values alone.
        initial: Number of scrambled Sobol points first, or a list of points to evaluate
            first; by default 5 or twice the parameters, but at most half the budget.
        optimum: The known optimum, for regrets.
        progress: Whether to show progress; by default on a terminal only.
        acquisition_options: For GP-UCB ``delta`` and ``scale`` of its schedule, such as
            ``{"delta": 0.1, "scale": 0.2}``, which are the defaults.

    Returns:
        The best point, a table of the trials, and the last comparison of structures.

    Raises:
        SpaceError: If the space, the budget, the initial points, the acquisition or the
            selection is malformed, or the function cannot take these parameters.
        StructureError: If a structure is malformed.
        GroupError: If a group does not map the space to itself, or is too large.
        ColumnError: If a structure names a parameter that is not there.
    """
    parameters = read_space(space)
    budget = _read_budget(budget)
    points, count = _read_initial(initial, parameters, budget)
    black_box = BlackBox(f, [p.name for p in parameters])
    seed = int(seed)
    optimum = None if optimum is None else float(optimum)
    strategy = generation_strategy(
        structures, acquisition, selection, count, seed, acquisition_options
    )
    with quiet_ax():
        client = Client()
        client.configure_experiment(
            name="minimize", parameters=[p.to_ax() for p in parameters]
        )
        client.configure_optimization(objective=f"-{METRIC}")
        client.set_generation_strategy(strategy)
        for structure in offered(structures):
            in_space(structure, client._experiment.search_space)
        run = _Run(client, black_box, [p.name for p in parameters])
        show = sys.stderr.isatty() if progress is None else progress
        with tqdm(total=budget, disable=not show, desc="minimize") as bar:
            try:
                run.to_the_end(points, budget, bar)
            except BaseException as stop:
                how = (
                    f"stopped by {type(stop).__name__}"
                    if isinstance(stop, Exception)
                    else "interrupted"
                )
                run.notes.append(f"{how} after {len(run.table)} of {budget} trials")
                stop.result = run.result(space, seed, optimum)  # type: ignore[attr-defined]
                stop.add_note(
                    f"{len(run.table)} finished trials are kept in the `result` "
                    "attribute of this exception (sys.last_value.result at the prompt)"
                )
                raise
    return run.result(space, seed, optimum)


class _Run:
    """One optimisation under way."""

    def __init__(self, client: Client, black_box: BlackBox, names: list[str]) -> None:
        self.client = client
        self.black_box = black_box
        self.table = TrialTable(names)
        self.notes: list[str] = []

    def to_the_end(
        self, points: Sequence[dict[str, Value]], budget: int, bar: tqdm
    ) -> None:
        for point in points:
            start = time.perf_counter()
            self._evaluate(self.client.attach_trial(point), point, start, bar)
        while len(self.table) < budget:
            start = time.perf_counter()
            candidates = self._next()
            if not candidates:
                self.notes.append(
                    f"stopped after {len(self.table)} of {budget} trials: no point of "
                    "the space is left to try"
                )
                return
            for index, parameters in candidates.items():
                self._evaluate(index, dict(parameters), start, bar)

    def _next(self) -> Mapping[int, Mapping[str, Any]]:
        """The next trial; none if no point is left."""
        if is_exhausted(self.client._experiment):
            return {}
        try:
            return self.client.get_next_trials(max_trials=1)
        except OptimizationComplete:
            return {}

    def _evaluate(
        self, index: int, parameters: dict[str, Any], start: float, bar: tqdm
    ) -> None:
        try:
            outcome = self.black_box(parameters)
        except BaseException as stop:
            self.client.mark_trial_failed(index, failed_reason=type(stop).__name__)
            raise
        self._keep(index, parameters, outcome, time.perf_counter() - start)
        if outcome.failed:
            self.client.mark_trial_failed(index, failed_reason=outcome.reason)
        else:
            self.client.complete_trial(index, raw_data={METRIC: outcome.value})
        bar.update()
        bar.set_postfix_str(f"best {self.table.best_value:.6g}")

    def _keep(
        self, index: int, parameters: dict[str, Any], outcome: Outcome, seconds: float
    ) -> None:
        trial = self.client._experiment.trials[index]
        assert isinstance(trial, Trial)
        run = trial.generator_run
        made = run is not None and run._generation_node_name is not None
        source = source_of(run if made else None, METRIC)
        self.table.add(index, parameters, outcome, source, seconds)

    def result(
        self, space: Mapping[str, Any], seed: int, optimum: float | None
    ) -> OptimizationResult:
        trials = self.table.to_frame()
        if len(trials) and not self.table.best_parameters:
            first = trials["reason"].iloc[0]
            self.notes.append(f"every trial failed, the first with {first}")
        return OptimizationResult(
            best_parameters=self.table.best_parameters,
            best_value=self.table.best_value,
            trials=trials,
            space=dict(space),
            seed=seed,
            client=self.client,
            comparison=self._comparison(),
            optimum=optimum,
            notes=tuple(self.notes),
        )

    def _comparison(self) -> Comparison | None:
        for node in self.client._generation_strategy._nodes:
            if isinstance(node, StructureNode):
                return node.comparisons.get(METRIC)
        return None


def _read_budget(budget: Any) -> int:
    if not is_whole(budget) or budget < 1:
        raise SpaceError(
            f"budget is the number of evaluations, a whole number of 1 or more, got "
            f"{budget!r}"
        )
    return int(budget)


def _read_initial(
    initial: Any, parameters: Sequence[Parameter], budget: int
) -> tuple[list[dict[str, Value]], int]:
    """Points to evaluate first, and how many trials come before the first model."""
    if initial is None:
        return [], min(max(5, 2 * len(parameters)), max(1, budget // 2))
    if is_whole(initial):
        points, count = [], int(initial)
    elif isinstance(initial, Sequence) and not isinstance(initial, str):
        points = read_points(initial, parameters)
        count = len(points)
    else:
        raise SpaceError(
            "initial= expects a number of Sobol points or a list of dictionaries, got "
            f"{initial!r:.60}"
        )
    if not 1 <= count <= budget:
        raise SpaceError(
            f"initial= asks for {count} points first; it must be at least 1 and at "
            f"most the budget, {budget}"
        )
    return points, count
