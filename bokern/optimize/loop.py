"""`minimize`: a study, run from its beginning to its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from bokern.ax.choice import Structures
from bokern.errors import SpaceError
from bokern.inputs import is_whole
from bokern.optimize.black_box import BlackBox
from bokern.optimize.points import Point, read_points
from bokern.optimize.result import OptimizationResult
from bokern.optimize.running import read_budget
from bokern.optimize.settings import Problem, default_initial
from bokern.optimize.study import Study


def minimize(
    f: Callable[..., Any],
    space: Mapping[str, Any],
    budget: int,
    *,
    structures: Structures | None = None,
    acquisition: str | None = None,
    selection: str | None = None,
    seed: int | None = None,
    initial: int | Sequence[Mapping[str, Any]] | None = None,
    optimum: float | None = None,
    progress: bool | None = None,
    acquisition_options: Mapping[str, Any] | None = None,
    constraints: Sequence[str] | str | None = None,
    study: str | os.PathLike[str] | None = None,
    parallel: int = 1,
    time_limit: float | None = None,
    executor: Executor | None = None,
) -> OptimizationResult:
    """Minimises a black box.

    An exception, NaN, an infinity or anything that is no number makes a failed trial:
    it counts towards the budget, is listed with its reason, and teaches where to expect
    failures, which is avoided.
    An interruption from the keyboard, or any error outside the function, goes through
    with all that was found so far as its ``result`` attribute
    (``sys.last_value.result`` at the prompt).

    Args:
        f: Called as ``f(**parameters)`` if its signature names every parameter of the
            space (or takes ``**keywords``) and needs no others, else as
            ``f(parameters)`` with one dictionary. It returns a number, or
            ``(number, standard error)``.
        space: Parameters by name: ``(0.0, 1.0)`` is a range, ``(1, 10)`` a range of
            whole numbers, ``(1e-5, 1e-1, "log")`` one on a log scale, ``[1, 2, 4]``
            ordered values, ``choice("a", "b")`` unordered ones, ``3`` a fixed value.
        budget: Number of evaluations in all, the initial ones included.
        structures: ``"auto"`` (the default), one structure or its text, or a list.
        acquisition: ``"logei"`` (the default), ``"qlognei"``, ``"gp-ucb"``, ``"kg"``
            (knowledge gradient), ``"mes"`` (max-value entropy), ``"thompson"``, or
            ``"nipv"``, which learns the function rather than its optimum.
        selection: ``"winner"``, ``"mixture"`` for the evidence-weighted average, or
            ``"draw"`` (the default) for one drawn with its probability for each trial.
        seed: The run depends on it and on the values alone; 0 by default.
        initial: Number of scrambled Sobol points first, or a list of points to evaluate
            first; by default 5 or twice the parameters, but at most half the budget.
        optimum: The known optimum, for regrets.
        progress: Whether to show progress; by default on a terminal only.
        acquisition_options: For GP-UCB ``delta`` and ``scale`` of its schedule, such as
            ``{"delta": 0.1, "scale": 0.2}``, which are the defaults.
        constraints: On parameters, such as ``["x + 2*y <= 1.5"]``.
        study: File or database in which the run is kept; run again with the same, it
            goes on where it ended. See `bokern.Study`.
        parallel: Evaluations at a time, each in a process of its own if several.
        time_limit: Seconds after which an evaluation is stopped and counts as failed.
        executor: Where structures are searched; see `bokern.Study`.

    Returns:
        The best point, a table of the trials, and the last comparison of structures.

    Raises:
        SpaceError: If the space, the budget, the initial points, the acquisition or the
            selection is malformed, the function cannot take these parameters, or the
            study that is stored has another space.
        StorageError: If the study cannot be stored.
        StructureError: If a structure is malformed.
        GroupError: If a group does not map the space to itself, or is too large.
        ColumnError: If a structure names a parameter that is not there.
    """
    problem = Problem.read(space, constraints=constraints)
    budget = read_budget(budget)
    points, count = _read_initial(initial, problem, budget)
    BlackBox(f, problem.names)
    opened = Study(
        study,
        space,
        constraints=constraints,
        structures=structures,
        acquisition=acquisition,
        acquisition_options=acquisition_options,
        selection=selection,
        initial=count,
        seed=seed,
        executor=executor,
    )
    return opened.run(
        f,
        budget,
        first=points,
        parallel=parallel,
        time_limit=time_limit,
        optimum=optimum,
        progress=progress,
    )


def _read_initial(
    initial: Any, problem: Problem, budget: int
) -> tuple[list[Point], int]:
    """Points to evaluate first, and how many trials come before the first model."""
    if initial is None:
        return [], min(default_initial(problem.parameters), max(1, budget // 2))
    if is_whole(initial):
        points, count = [], int(initial)
    else:
        points = read_points(initial, problem, "initial")
        count = len(points)
    if not 1 <= count <= budget:
        raise SpaceError(
            f"initial= asks for {count} points first; it must be at least 1 and at "
            f"most the budget, {budget}"
        )
    return points, count
