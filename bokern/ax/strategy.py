"""The generation strategy: Sobol points, then structures."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

from ax.core.experiment_status import ExperimentStatus
from ax.core.trial_status import TrialStatus
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.transition_criterion import MinTrials

from bokern.ax.choice import Structures
from bokern.ax.node import StructureNode
from bokern.ax.surrogate import sobol_generator
from bokern.errors import SpaceError
from bokern.inputs import is_whole
from bokern.seeding import spawn

INITIAL = 5
"""Sobol points before the first model, unless told otherwise."""

NODE = "bokern"


def generation_strategy(
    structures: Structures = "auto",
    acquisition: str = "logei",
    selection: str = "draw",
    initial: int | None = None,
    seed: int = 0,
    acquisition_options: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
) -> GenerationStrategy:
    """A strategy for ``client.set_generation_strategy``.

    Args:
        structures: ``"auto"``, one structure or its text, or a list. Numbered columns
            count the parameters of the search space in their order.
        acquisition: ``"logei"``, ``"qlognei"``, ``"gp-ucb"``, ``"kg"`` (knowledge
            gradient), ``"mes"`` (max-value entropy), ``"thompson"`` or ``"nipv"``
            (active learning); all of them work with trials that are still running,
            with failures and with outcome constraints. For several objectives the
            first two leave the choice to Ax.
        selection: ``"winner"``, ``"mixture"`` for the evidence-weighted average, or
            ``"draw"`` for one drawn with its probability for each trial. With several
            metrics each takes its winner in place of a mixture.
        initial: Number of scrambled Sobol trials first; trials attached by hand count,
            failed ones do not. 5 by default.
        seed: The run depends on it and on the observations alone.
        acquisition_options: For GP-UCB ``delta`` and ``scale`` of its schedule, such as
            ``{"delta": 0.1, "scale": 0.2}``, which are the defaults.
        executor: Where structures are searched, any ``concurrent.futures`` executor;
            in this process if None. The results are the same, and it is not stored.

    Raises:
        StructureError: If a structure is malformed.
        SpaceError: If another argument is.
    """
    initial = INITIAL if initial is None else initial
    if not is_whole(initial) or initial < 0:
        raise SpaceError(
            f"initial= expects a number of Sobol trials, 0 or more, got {initial!r}"
        )
    node = StructureNode(
        NODE,
        structures=structures,
        acquisition=acquisition,
        selection=selection,
        seed=seed,
        acquisition_options=acquisition_options,
        executor=executor,
    )
    initial = int(initial)
    nodes: list[GenerationNode] = [node]
    if initial:
        nodes.insert(0, _sobol_node(initial, seed))
    return GenerationStrategy(name="Sobol+bokern" if initial else "bokern", nodes=nodes)


def _sobol_node(initial: int, seed: int) -> GenerationNode:
    return GenerationNode(
        name="Sobol",
        generator_specs=[sobol_generator(spawn(seed, "initial"))],
        transition_criteria=[
            MinTrials(
                threshold=initial,
                transition_to=NODE,
                not_in_statuses=[TrialStatus.FAILED, TrialStatus.ABANDONED],
                use_all_trials_in_exp=True,
            ),
            MinTrials(
                threshold=max(1, initial // 2),
                transition_to=NODE,
                only_in_statuses=[TrialStatus.COMPLETED, TrialStatus.EARLY_STOPPED],
                use_all_trials_in_exp=True,
                count_only_trials_with_data=True,
            ),
        ],
        should_deduplicate=True,
        suggested_experiment_status=ExperimentStatus.INITIALIZATION,
        fallback_specs={},
    )
