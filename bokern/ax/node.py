"""A node of an Ax generation strategy whose surrogate is chosen by evidence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from ax.adapter.registry import Generators
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.experiment_status import ExperimentStatus
from ax.core.generator_run import GeneratorRun
from ax.core.observation import ObservationFeatures
from ax.exceptions.core import OptimizationComplete, SearchSpaceExhausted
from ax.exceptions.generation_strategy import GenerationStrategyRepeatedPoints
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.transition_criterion import TransitionCriterion
from ax.storage.json_store.decoder import object_from_json
from ax.storage.json_store.registry import (
    CORE_CLASS_DECODER_REGISTRY,
    CORE_DECODER_REGISTRY,
)
from ax.utils.common.random import with_rng_seed
from ax.utils.common.serialization import TClassDecoderRegistry, TDecoderRegistry

from bokern.ax.acquisition import (
    acquisition_kwargs,
    check_acquisition,
    check_options,
    exploring,
    gen_kwargs,
    has_one_objective,
    merged,
)
from bokern.ax.choice import (
    AUTO,
    FALLBACK,
    Structures,
    check_selection,
    heaviest,
    is_auto,
    offered,
)
from bokern.ax.columns import in_space
from bokern.ax.comparing import NEVER_HEALS, Comparing, reason
from bokern.ax.feasible import knows_failures, teach_success
from bokern.ax.library_warnings import without_library_warnings
from bokern.ax.memory import Memory
from bokern.ax.occupied import is_exhausted, repeats, to_avoid
from bokern.ax.record import KEY, StructureRecord, Weights, at_once
from bokern.ax.surrogate import (
    fitted_thetas,
    sobol_generator,
    structured_generator,
)
from bokern.ax.symmetry_trial import symmetry_trial
from bokern.errors import FitWarning
from bokern.models import SuccessGP
from bokern.seeding import spawn
from bokern.selection import Comparison
from bokern.selection.workers import check_executor
from bokern.structures import Structure, as_structure

LEVELS = ("structure", "matern", "sobol")
"""What a node generates from, in the order in which it degrades."""


class StructureNode(GenerationNode):
    """Generates candidates from structures compared by their evidence.

    With one structure, it is used throughout. With several, they are compared before
    the first fit and whenever the data have grown by a fifth; with ``"auto"`` they are
    searched for at the same times, by a short run of `bokern.search`, from 2d + 5
    observations on. In between the winner, an evidence-weighted mixture, or a structure
    drawn for each trial is refitted from where its last fit ended.

    A candidate on a point already tried means that the model expects no gain anywhere,
    and it is the model that is then to be doubted: the trial goes where the same model,
    taking its observations for exact, knows least (`Uncertainty`). Should that be a
    point already tried too, or with several objectives, it goes to a Sobol point.

    A candidate that a symmetry of its structure leaves where it is tells nothing of it.
    If nothing else has, the trial is an image of an observed point, and its outcome
    calls for a comparison (`bokern.ax.symmetry_trial`): a symmetry that leads for no
    good reason could lead forever.

    Outcome constraints and failures count in every acquisition: it is multiplied by the
    probability that the constraints are kept and the evaluation succeeds
    (`bokern.ax.feasible`).

    A comparison that fails leaves the structures in use, with a `FitWarning`, and is
    tried again when the data have grown by a fifth. A surrogate that cannot be fitted,
    or from which no candidate comes, degrades from the structures to Matérn-5/2 to
    Sobol points, with a `FitWarning` and the reason in the record; the structures are
    tried again at the next fit. Where evaluations fail cannot be learned, points of
    failed trials count as pending. Structures that were found and
    do not fit the search space any more are searched for anew.

    What the node knows of the structures is a cache (`bokern.ax.memory`): the truth is
    the newest record on the experiment (`bokern.ax.record`), so that copies of the node
    and reloaded experiments continue with the same structures.

    Args:
        name: Name of the node.
        structures: ``"auto"``, one structure or its text, or a list. Numbered columns
            count the parameters of the search space in their order.
        acquisition: A name of `bokern.ax.acquisition.ACQUISITIONS`.
        selection: ``"winner"``, ``"mixture"`` or ``"draw"``; with several metrics each
            takes its winner for a mixture, since BoTorch cannot combine mixtures of
            different sizes.
        seed: Candidates and comparisons depend on it and on the trials alone.
        incumbents: For each metric the structures in use and their weights.
        searched_at: For each metric its observations when structures were last
            compared; one number for all of them in files of earlier versions.
        generator_kwargs: Further arguments of Ax's BoTorch generator.
        transition_criteria: When to go on to another node.
        acquisition_options: For GP-UCB ``delta`` and ``scale`` of its schedule.
        executor: Where structures are searched, any ``concurrent.futures`` executor;
            in this process if None. The results are the same, and it is not stored.

    Raises:
        StructureError: If a structure is malformed.
        SpaceError: If the acquisition, an option of it or the selection is unknown, or
            (at the first fit) cannot serve several objectives.
        GroupError: At the first fit, if a group does not map the space to itself or is
            too large.
        ColumnError: At the first fit, if a structure names a parameter that is not
            there, or an unordered choice.
    """

    def __init__(
        self,
        name: str,
        structures: Structures = "auto",
        acquisition: str = "logei",
        selection: str = "draw",
        seed: int = 0,
        incumbents: dict[str, Weights] | None = None,
        searched_at: dict[str, int] | int = 0,
        generator_kwargs: dict[str, Any] | None = None,
        transition_criteria: Sequence[TransitionCriterion] | None = None,
        acquisition_options: Mapping[str, Any] | None = None,
        executor: Executor | None = None,
    ) -> None:
        found = offered(structures)
        self.structures = [AUTO] if is_auto(structures) else [str(s) for s in found]
        self.acquisition = check_acquisition(acquisition)
        self.acquisition_options = check_options(acquisition, acquisition_options)
        self.selection = check_selection(selection)
        self.seed = int(seed)
        self.generator_kwargs = dict(generator_kwargs or {})
        if isinstance(searched_at, int):
            searched_at = at_once(searched_at, incumbents or {})
        self._comparing = Comparing(
            self.structures,
            self.selection,
            self.seed,
            Memory(dict(incumbents or {}), dict(searched_at)),
            check_executor(executor),
        )
        self._level = "structure"
        self._reasons: list[str] = []
        self._first = str(found[0])
        self._rows = 0
        self._chosen: dict[str, Weights] = {}
        self._built_for: Any = None
        self._success: SuccessGP | None = None
        self._attempt = 0
        self._exploring = False
        self._repeats = 0
        self._repeated = False
        self._tests: dict[str, int] = {}
        super().__init__(
            name=name,
            generator_specs=[sobol_generator(spawn(seed, "sobol"))],
            transition_criteria=transition_criteria,
            should_deduplicate=True,
            suggested_experiment_status=ExperimentStatus.OPTIMIZATION,
            fallback_specs={
                GenerationStrategyRepeatedPoints: sobol_generator(
                    spawn(seed, "repeated"), key="Fallback_Sobol"
                )
            },
        )

    @property
    def memory(self) -> Memory:
        """What is known of the structures."""
        return self._comparing.memory

    @property
    def comparisons(self) -> dict[str, Comparison]:
        """The last comparison of each metric, if it was made in this process."""
        return self.memory.comparisons

    # -- fitting -------------------------------------------------------------------

    def _fit(
        self, experiment: Experiment, data: Data | None = None, **kwargs: Any
    ) -> None:
        space = experiment.search_space
        rows = len((experiment.lookup_data() if data is None else data).df)
        self._comparing.recall(experiment, rows)
        self._rows = rows
        self._reasons = []
        self._exploring = False
        structures = tuple(in_space(s, space) for s in offered(self.structures))
        self._first = str(structures[0])
        seed = spawn(self.seed, "fit", len(experiment.trials))
        with with_rng_seed(seed), without_library_warnings():
            self._acquisition(experiment)
            try:
                fitted = self._compare_and_fit(structures, experiment, data, kwargs)
            except NEVER_HEALS as error:
                if not self.memory.incumbents:
                    raise
                # The structures offered fit the space, so it was one found earlier.
                self._comparing.forget(error)
                fitted = self._compare_and_fit(structures, experiment, data, kwargs)
            if not fitted:
                self._degrade(experiment, data, kwargs)
            elif self._reasons:
                warnings.warn(
                    f"{'; '.join(self._reasons)}. Kept the structures in use.",
                    FitWarning,
                    stacklevel=2,
                )

    def _compare_and_fit(
        self,
        structures: Sequence[Structure],
        experiment: Experiment,
        data: Data | None,
        kwargs: dict[str, Any],
    ) -> bool:
        self._reasons += self._comparing.update(
            structures, experiment, data, self._rows, self.generator_kwargs, kwargs
        )
        return self._fit_level("structure", experiment, data, kwargs)

    def _fit_level(
        self,
        level: str,
        experiment: Experiment,
        data: Data | None,
        kwargs: dict[str, Any],
    ) -> bool:
        """Fits one of ``LEVELS``; False, with the reason noted, if it cannot be."""
        self._use(level, experiment)
        try:
            super()._fit(experiment, data, **kwargs)
        except NEVER_HEALS:
            raise
        except Exception as error:
            self._reasons.append(reason(f"{level} could not be fitted", error))
            return False
        adapter = self.generator_specs[0].fitted_adapter
        self._success = teach_success(adapter, experiment, self._success)
        if level == "structure":
            self.memory.theta = fitted_thetas(self.generator_specs[0], self._chosen)
        return True

    def _degrade(
        self, experiment: Experiment, data: Data | None, kwargs: dict[str, Any]
    ) -> bool:
        """Goes to the next level that can be fitted, with a warning; False if none."""
        for level in LEVELS[LEVELS.index(self._level) + 1 :]:
            if self._fit_level(level, experiment, data, kwargs):
                self._warn(level)
                return True
        return False

    def _warn(self, level: str) -> None:
        instead = "Sobol points" if level == "sobol" else str(FALLBACK)
        warnings.warn(
            f"{'; '.join(self._reasons)}. Used {instead} instead for this trial.",
            FitWarning,
            stacklevel=2,
        )

    def _use(self, level: str, experiment: Experiment) -> None:
        """Sets the generator spec of a level, keeping the present one if unchanged.

        Ax reuses what is fitted as long as the spec is the same object.
        """
        self._level = level
        if len(experiment.metrics) > 1 and self.selection == "mixture":
            self.memory.keep_heaviest()
        acquisition = self._acquisition(experiment)
        memory = self.memory
        trial = len(experiment.trials)
        chosen = self._comparing.chosen(trial) if level == "structure" else {}
        self._chosen = chosen
        wanted = (level, self._first, self._chosen, acquisition, self._rows)
        if level == "sobol":
            seed = spawn(self.seed, "sobol", trial)
            self.generator_specs = [sobol_generator(seed)]
        elif self._built_for != wanted:
            first = self._first if level == "structure" else str(FALLBACK)
            self.generator_specs = [
                structured_generator(
                    self._chosen,
                    {first: 1.0},
                    memory.theta if self._exploring else memory.warm,
                    self.seed,
                    acquisition,
                    gen_kwargs(experiment.search_space),
                )
            ]
        self._built_for = wanted
        self._generator_spec_to_gen_from = self.generator_specs[0]

    def _acquisition(self, experiment: Experiment) -> dict[str, Any]:
        """Keyword arguments of Ax's generator."""
        if self._exploring:
            return exploring(self.generator_kwargs)
        found = acquisition_kwargs(
            self.acquisition, experiment, self.acquisition_options
        )
        return merged(found, self.generator_kwargs)

    # -- generating ----------------------------------------------------------------

    def gen(self, **kwargs: Any) -> GeneratorRun | None:
        """Generates candidates; see `GenerationNode.gen`.

        Raises:
            SearchSpaceExhausted: If no point of a finite space is left to try.
        """
        if is_exhausted(kwargs["experiment"]):
            raise SearchSpaceExhausted(
                "every point of the search space has been tried: no candidate is left"
            )
        self._attempt = 0
        self._repeats = 0
        if self._exploring:
            # The trial before left another acquisition behind.
            kwargs["skip_fit"] = False
        return super().gen(**kwargs)

    def _gen(
        self,
        experiment: Experiment,
        pending_observations: dict[str, list[ObservationFeatures]] | None,
        data: Data | None,
        n: int | None,
        **generator_gen_kwargs: Any,
    ) -> GeneratorRun:
        avoided = to_avoid(experiment, pending_observations)
        pending = max(map(len, avoided.values()), default=0)
        trials = len(experiment.trials)
        seed = spawn(self.seed, "gen", trials, pending, self._attempt)
        self._attempt += 1
        with with_rng_seed(seed), without_library_warnings():
            run = self._gen_or_degrade(
                experiment, pending_observations, data, n, generator_gen_kwargs
            )
            run = self._test(experiment, run) or run
            if self._is_repeat(experiment, run) and self._explore(experiment, data):
                run = self._gen_or_degrade(
                    experiment, pending_observations, data, n, generator_gen_kwargs
                )
                self._is_repeat(experiment, run)
        if self._repeated:
            self._reasons.append("the candidate is a point that was tried already")
            raise GenerationStrategyRepeatedPoints(self._reasons[-1])
        run._gen_metadata = {
            **(run.gen_metadata or {}),
            KEY: self._record(run).to_json(),
        }
        return run

    def _test(self, experiment: Experiment, run: GeneratorRun) -> GeneratorRun | None:
        """A trial that tests a symmetry, in place of a candidate that would not.

        None where every structure offered has it, and for several candidates at once.
        """
        self._tests = {}
        doubted = is_auto(self.structures) or any(
            not any(True for _ in s.groups()) for s in offered(self.structures)
        )
        if self._level != "structure" or not doubted or len(run.arms) > 1:
            return None
        for metric, weights in self._chosen.items():
            structure = as_structure(next(iter(heaviest(weights))))
            arm = symmetry_trial(experiment, metric, structure, run.arms[0])
            if arm is not None:
                self._tests = {metric: self.memory.searched_at.get(metric, 0)}
                key = Generators.BOTORCH_MODULAR.value
                return GeneratorRun(arms=[arm], generator_key=key)
        return None

    def _gen_or_degrade(
        self,
        experiment: Experiment,
        pending: dict[str, list[ObservationFeatures]] | None,
        data: Data | None,
        n: int | None,
        generator_gen_kwargs: dict[str, Any],
    ) -> GeneratorRun:
        """Candidates of the first level that has any to give."""
        while True:
            learned = knows_failures(self.generator_specs[0].fitted_adapter)
            try:
                return super()._gen(
                    experiment=experiment,
                    pending_observations=to_avoid(
                        experiment, pending, failed=not learned
                    ),
                    data=data,
                    n=n,
                    **generator_gen_kwargs,
                )
            except OptimizationComplete:
                raise
            except Exception as error:
                self._reasons.append(reason(f"{self._level} gave no candidate", error))
                if not self._degrade(experiment, data, {}):
                    raise

    def _is_repeat(self, experiment: Experiment, run: GeneratorRun) -> bool:
        """Whether a model came back to a point that was tried; counts the times."""
        repeat = _is_modelled(run) and any(repeats(experiment, a) for a in run.arms)
        self._repeats += repeat
        self._repeated = repeat
        return repeat

    def _explore(self, experiment: Experiment, data: Data | None) -> bool:
        """Makes the model generate what it knows least; False if it cannot."""
        if not has_one_objective(experiment):
            return False
        self._exploring = True
        return self._fit_level(self._level, experiment, data, {})

    def _record(self, run: GeneratorRun) -> StructureRecord:
        modelled = _is_modelled(run)
        memory = self.memory
        return StructureRecord(
            offered=list(self.structures),
            selection=self.selection,
            incumbents=memory.incumbents,
            searched_at=memory.searched_at,
            evidence=memory.evidence,
            why=memory.why,
            chosen=self._chosen,
            warm=memory.warm,
            theta=memory.theta,
            rows=self._rows,
            used=self._level if modelled else "sobol",
            reasons=list(self._reasons),
            repeats=self._repeats,
            explored=modelled and self._exploring,
            tests=self._tests,
        )

    # -- storage -------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Constructor arguments for Ax's encoders, which encode their values."""
        return {
            "__type": type(self).__name__,
            "name": self.name,
            "structures": self.structures,
            "acquisition": self.acquisition,
            "selection": self.selection,
            "seed": self.seed,
            "incumbents": self.memory.incumbents,
            "searched_at": self.memory.searched_at,
            "generator_kwargs": self.generator_kwargs,
            "transition_criteria": list(self.transition_criteria),
            "acquisition_options": self.acquisition_options,
        }

    @classmethod
    def deserialize_init_args(
        cls,
        args: dict[str, Any],
        decoder_registry: TDecoderRegistry | None = None,
        class_decoder_registry: TClassDecoderRegistry | None = None,
    ) -> dict[str, Any]:
        """Constructor arguments from what `to_json` and Ax's encoders wrote."""
        return {
            name: object_from_json(
                value,
                decoder_registry=decoder_registry or CORE_DECODER_REGISTRY,
                class_decoder_registry=(
                    class_decoder_registry or CORE_CLASS_DECODER_REGISTRY
                ),
            )
            for name, value in args.items()
        }


def _is_modelled(run: GeneratorRun) -> bool:
    """Whether a model made it, not a Sobol sequence."""
    return bool(run._generator_key == Generators.BOTORCH_MODULAR.value)
