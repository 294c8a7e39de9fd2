"""The model that a figure draws: a given one, or one fitted to the trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
import torch
from botorch.models.model import Model
from numpy.typing import NDArray

from bokern.build import fit
from bokern.errors import BokernError, InputError
from bokern.models import StructuredGP
from bokern.reporting.axes import Axis
from bokern.reporting.observations import Observed, of_comparison, of_model
from bokern.reporting.progress import completed, course
from bokern.reporting.results import (
    ComparisonLike,
    OptimizationLike,
    StudyLike,
    optimization_of,
)
from bokern.structures import parse

__all__ = ["Source", "modelled"]

Source: TypeAlias = ComparisonLike | Model | OptimizationLike | StudyLike | Observed

DEFAULT = "Matern(2.5)"
"""What is fitted where no structure is known."""

STARTS = 3
MOST_ROWS = 400
"""Trials that a model is fitted to, at most: the best, and the last of the others."""


def modelled(source: Source, outcome: str | None = None) -> Observed:
    """The model that figures draw, with its data.

    Of an optimisation this is the structure that was best supported last, fitted to all
    completed trials in the user's own units; figures that are given the result of this
    function do not fit it again.

    Args:
        source: A comparison, whose best model is taken; a fitted model; an optimisation
            or a study.
        outcome: Which one of an optimisation's; the first objective by default.

    Returns:
        Model and data, detached and on the CPU where they are data.

    Raises:
        InputError: If ``source`` is nothing of the kind, the model has several outputs,
            or there is no such outcome.
        DataError: If there are fewer than two values, or they are all the same.
        FitError: If the model cannot be fitted.
    """
    if isinstance(source, Observed):
        found = source
    elif isinstance(source, ComparisonLike):
        found = of_comparison(source)
    elif isinstance(source, StudyLike | OptimizationLike):
        return _of_optimization(optimization_of(source), outcome)
    else:
        found = of_model(source)
    if outcome is not None and outcome != found.target_name:
        raise InputError(
            f"expected the outcome {found.target_name!r}, got {outcome!r:.60}; "
            "outcomes are chosen of an optimisation or a study"
        )
    return found


def _of_optimization(result: OptimizationLike, outcome: str | None) -> Observed:
    name = outcome or next(iter(result.objectives))
    done = completed(result, name)
    left_out = max(0, len(done) - MOST_ROWS)
    done = _some(done, name, result) if left_out else done
    axes = tuple(Axis.of(p) for p in result.parameters if not p.is_fixed)
    places = np.stack([axis.places(list(done[axis.name])) for axis in axes], axis=1)
    columns = [column for axis in axes for column in axis.columns]
    box = [ends for axis in axes for ends in axis.box]
    encoded = [axis.encode(c) for axis, c in zip(axes, places.T, strict=True)]
    X = pd.DataFrame(np.concatenate(encoded, axis=1), columns=columns)
    y = pd.Series(done[name].to_numpy(dtype=float), name=name)
    model, remark = _fitted(
        _structures(result, name),
        _known_noise(done, name),
        partial(fit, X=X, y=y, bounds=box, starts=STARTS),
    )
    if left_out:
        remark += f" {left_out} of the trials are left out."
    return Observed(
        model=model,
        X=torch.tensor(X.to_numpy()),
        y=torch.tensor(y.to_numpy()),
        bounds=torch.tensor(box, dtype=torch.float64).T,
        column_names=tuple(columns),
        target_name=name,
        axes=axes,
        places=places,
        best=_best(result, name, done),
        remark=remark.strip(),
    )


def _structures(result: OptimizationLike, outcome: str) -> list[str]:
    """What to fit: the structure best supported last, or the last one used."""
    found = []
    ranked = result.leaderboard
    if not ranked.empty:
        mine = ranked[ranked["outcome"] == outcome]
        found += list(mine.sort_values("probability", kind="stable")["structure"][-1:])
    used = [str(g) for g in result.trials["generator"] if _is_structure(str(g))]
    return list(dict.fromkeys([*found, *used[-1:], DEFAULT]))


def _is_structure(text: str) -> bool:
    try:
        parse(text)
    except BokernError:
        return False
    return True


def _known_noise(done: pd.DataFrame, name: str) -> NDArray[np.float64] | None:
    """Variances of an outcome if all its standard errors are known, as in the study."""
    errors = done.get(f"{name}_sem")
    if errors is None or errors.isna().any():
        return None
    return np.square(errors.to_numpy(dtype=float))


def _fitted(
    structures: Sequence[str],
    noise: NDArray[np.float64] | None,
    fit_to_trials: Callable[..., StructuredGP],
) -> tuple[StructuredGP, str]:
    """The first structure that can be fitted, and what did not go as it should.

    Known noise that contradicts repeated trials is inferred instead.
    """
    kinds = [None] if noise is None else [noise, None]
    *tries, last = [(s, variances) for variances in kinds for s in structures]
    remark = ""
    for structure, variances in tries:
        try:
            return fit_to_trials(structure, noise=variances), remark
        except BokernError as error:
            remark = f"{structure} could not be fitted to the trials: {error}"
    return fit_to_trials(last[0], noise=last[1]), remark


def _some(done: pd.DataFrame, name: str, result: OptimizationLike) -> pd.DataFrame:
    """The best half of the rows that are kept, and the last of the others."""
    sign = -1.0 if result.objectives.get(name) == "maximize" else 1.0
    order = (sign * done[name]).sort_values(kind="stable").index
    best, rest = order[: MOST_ROWS // 2], order[MOST_ROWS // 2 :]
    return done.loc[sorted([*best, *sorted(rest)[-(MOST_ROWS - len(best)) :]])]


def _best(result: OptimizationLike, name: str, done: pd.DataFrame) -> int | None:
    """Row of the best trial that keeps the constraints, of all if none does."""
    if name not in result.objectives:
        name = next(iter(result.objectives))
    path = course(result, name)
    numbers = done["trial"].to_numpy()
    value = {
        t: v if kept else np.inf
        for t, v, kept in zip(
            path.trial, path.sign * path.value, path.kept, strict=True
        )
    }
    scores = np.array([value[t] for t in numbers])
    if not np.isfinite(scores).any():
        scores = path.sign * done[name].to_numpy(dtype=float)
    return int(scores.argmin())
