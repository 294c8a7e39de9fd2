"""The search for a structure within an optimisation run, at a cost it can bear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import pandas as pd
from ax.core.parameter import RangeParameter
from ax.core.search_space import SearchSpace

from bokern.ax.columns import describe
from bokern.ax.training import MetricData
from bokern.build import unfitted
from bokern.errors import InputError
from bokern.inputs import read_observations
from bokern.selection import Comparison, compare
from bokern.selection.candidate import Settings
from bokern.selection.jobs import Effort
from bokern.selection.schedule import Plan
from bokern.selection.searching import enough_rows, search_observations
from bokern.structures import Structure, as_structure
from bokern.structures.grammar import SMALL_ORDER, Grammar

MODEL_SCALE = (
    "inputs and targets are as Ax hands them to the model: targets standardised, "
    "logarithms and one-hot columns where the space says so"
)
"""Said of every comparison that a node makes; structures compare all the same."""

PLAN = Plan(rounds=1, leaders=1, children=6, converged=3, confirmed=1, smc=0)
EFFORT = Effort(starts=6, thinned=2)
MAX_NODES = 5
"""Larger structures cost more at every trial than a run has."""

BUDGET = 20_000
"""Likelihood evaluations, which a search comes nowhere near."""


def compared(
    metric: MetricData, structures: Sequence[Structure], seed: int
) -> Comparison:
    """Given structures ranked on what one metric's model has seen."""
    found = compare(
        list(structures),
        metric.X,
        pd.Series(metric.y.cpu().numpy(), name=metric.metric),
        bounds=metric.bounds,
        noise=metric.noise,
        seed=seed,
        progress=False,
    )
    return _on_model_scale(found)


def is_too_early(metric: MetricData) -> bool:
    """Whether there are too few observations to search."""
    return len(metric.y) < enough_rows(metric.X.shape[1])


def searched(
    metric: MetricData,
    space: SearchSpace,
    known: Mapping[str, Sequence[float]],
    seed: int,
    executor: Executor | None = None,
) -> Comparison:
    """Structures found on what one metric's model has seen.

    Args:
        metric: The data.
        space: The declared space, whose like parameters may be interchangeable.
        known: Structures found earlier, by their text with columns by name, and their
            hyperparameters, from which their fits start. The leader is fitted from
            other starts too; one whose hyperparameters are not as many as it has is
            fitted like one that is not known.
        seed: Of the search.
        executor: Where its work is done; here if None.
    """
    data = read_observations(
        metric.X,
        pd.Series(metric.y.cpu().numpy(), name=metric.metric),
        metric.bounds,
        metric.noise,
    )
    names = data.column_names
    grammar = grammar_of(names, space, len(data.X))
    settings = Settings(seed=seed)
    initial = list(grammar.initial("small"))
    earlier: dict[Structure, tuple[float, ...]] = {}
    for text, theta in known.items():
        try:
            structure = as_structure(text).resolve(names)
            size = unfitted(structure, data, **settings.options()).log_posterior().dim
        except InputError:
            continue  # the space has changed since
        if len(theta) == size:
            earlier[structure] = tuple(theta)
        elif structure not in initial:
            initial.append(structure)
    found = search_observations(
        initial,
        data,
        settings,
        grammar=grammar,
        plan=PLAN,
        effort=EFFORT,
        limit=BUDGET,
        known=earlier,
        executor=executor,
        progress=False,
    )
    return _on_model_scale(found)


def grammar_of(names: Sequence[str], space: SearchSpace, n: int) -> Grammar:
    """The grammar of a model's columns.

    Ranges of one type, bounds and scale may be interchangeable; every other column,
    such as one of an unordered choice, stands for itself.
    """
    low, high, kinds = [], [], []
    for name in names:
        parameter = space.parameters.get(name)
        if isinstance(parameter, RangeParameter):
            low.append(float(parameter.lower))
            high.append(float(parameter.upper))
            kinds.append(describe(parameter))
        else:
            low.append(0.0)
            high.append(1.0)
            kinds.append(f"column {name}")
    grammar = Grammar.of(
        np.array([low, high]), names=names, kinds=kinds, n=n, max_nodes=MAX_NODES
    )
    return replace(grammar, max_order=min(grammar.max_order, SMALL_ORDER))


def _on_model_scale(found: Comparison) -> Comparison:
    found.data = replace(found.data, notes=(*found.data.notes, MODEL_SCALE))
    return found
