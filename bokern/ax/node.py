"""A node of an Ax generation strategy whose surrogate is chosen by evidence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
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
    merged,
)
from bokern.ax.choice import (
    AUTO,
    FALLBACK,
    Structures,
    check_selection,
    drawn,
    evidence_of,
    heaviest,
    is_auto,
    offered,
    weights,
)
from bokern.ax.columns import in_space
from bokern.ax.library_warnings import without_library_warnings
from bokern.ax.occupied import is_exhausted, repeats_failed, with_failed
from bokern.ax.record import KEY, StructureRecord, Thetas, Weights, newest_record
from bokern.ax.searching import compared, is_too_early, searched
from bokern.ax.surrogate import (
    data_generator,
    fitted_thetas,
    sobol_generator,
    structured_generator,
)
from bokern.ax.training import MetricData, training_data
from bokern.errors import ColumnError, FitWarning, GroupError, StructureError
from bokern.inputs import MIN_ROWS
from bokern.seeding import spawn
from bokern.selection import Comparison
from bokern.structures import Structure

GROWTH = 1.2
"""Factor by which the data must have grown before structures are compared again."""

KEPT = 3
"""Structures of an earlier search that the next begins with."""

LEVELS = ("structure", "matern", "sobol")
"""What a node generates from, in the order in which it degrades."""

NEVER_HEALS = (ColumnError, GroupError, StructureError)
"""Errors of the user's structures, which more data cannot mend."""


class StructureNode(GenerationNode):
    """Generates candidates from structures compared by their evidence.

    With one structure, it is used throughout. With several, they are compared before
    the first fit and whenever the data have grown by a fifth; with ``"auto"`` they are
    searched for at the same times, by a short run of `bokern.search`, from 2d + 5
    observations on. In between the winner, an evidence-weighted mixture, or a structure
    drawn for each trial is refitted from where its last fit ended. A comparison that
    fails leaves the
    structures in use, with a `FitWarning`; if it failed for every metric, it is tried
    again at the next fit. A surrogate that cannot be fitted, or from which no candidate
    comes, degrades from the structures to Matérn-5/2 to Sobol points, with a
    `FitWarning` and the reason in the record; the structures are tried again at the
    next fit. Points of failed trials count as pending, and a
    candidate on top of one gives way to a Sobol point, since a model that does not see
    the failures would propose them without end.

    The attributes ``incumbents`` and ``searched_at`` are a cache: the truth is the
    newest record on the experiment (`bokern.ax.record`), so that copies of the node and
    reloaded experiments continue with the same structures.

    Args:
        name: Name of the node.
        structures: ``"auto"``, one structure or its text, or a list. Numbered columns
            count the parameters of the search space in their order.
        acquisition: ``"logei"``, ``"qlognei"`` or ``"gp-ucb"``.
        selection: ``"winner"``, ``"mixture"`` or ``"draw"``; with several metrics each
            takes its winner for a mixture, since BoTorch cannot combine mixtures of
            different sizes.
        seed: Candidates and comparisons depend on it and on the trials alone.
        incumbents: For each metric the structures in use and their weights.
        searched_at: Number of observations at the last comparison.
        generator_kwargs: Further arguments of Ax's BoTorch generator.
        transition_criteria: When to go on to another node.
        acquisition_options: For GP-UCB ``delta`` and ``scale`` of its schedule.

    Raises:
        StructureError: If a structure is malformed.
        SpaceError: If the acquisition, an option of it or the selection is unknown, or
            (at the first fit) GP-UCB meets constraints or several objectives.
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
        searched_at: int = 0,
        generator_kwargs: dict[str, Any] | None = None,
        transition_criteria: Sequence[TransitionCriterion] | None = None,
        acquisition_options: Mapping[str, Any] | None = None,
    ) -> None:
        found = offered(structures)
        self.structures = [AUTO] if is_auto(structures) else [str(s) for s in found]
        self.acquisition = check_acquisition(acquisition)
        self.acquisition_options = check_options(acquisition, acquisition_options)
        self.selection = check_selection(selection)
        self.seed = int(seed)
        self.incumbents: dict[str, Weights] = dict(incumbents or {})
        self.searched_at = searched_at
        self.generator_kwargs = dict(generator_kwargs or {})
        self.comparisons: dict[str, Comparison] = {}
        self._evidence: dict[str, dict[str, dict[str, float]]] = {}
        self._level = "structure"
        self._reasons: list[str] = []
        self._first = str(found[0])
        self._why: dict[str, str] = {}
        self._warm: Thetas = {}
        self._theta: Thetas = {}
        self._rows = 0
        self._chosen: dict[str, Weights] = {}
        self._built_for: Any = None
        self._attempt = 0
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

    # -- fitting -------------------------------------------------------------------

    def _fit(
        self, experiment: Experiment, data: Data | None = None, **kwargs: Any
    ) -> None:
        space = experiment.search_space
        rows = len((experiment.lookup_data() if data is None else data).df)
        self._recall(experiment, rows)
        self._rows = rows
        self._reasons = []
        structures = tuple(in_space(s, space) for s in offered(self.structures))
        self._first = str(structures[0])
        seed = spawn(self.seed, "fit", len(experiment.trials))
        with with_rng_seed(seed), without_library_warnings():
            self._acquisition(experiment)
            if len(structures) > 1 or is_auto(self.structures):
                self._search_if_due(structures, rows, experiment, data, kwargs)
            if not self._fit_level("structure", experiment, data, kwargs):
                self._degrade(experiment, data, kwargs)
            elif self._reasons:
                warnings.warn(
                    f"{'; '.join(self._reasons)}. Kept the structures in use.",
                    FitWarning,
                    stacklevel=2,
                )

    def _recall(self, experiment: Experiment, rows: int) -> None:
        """Takes incumbents from the newest record where it knows more than the node."""
        if self.searched_at > sum(len(t.arms) for t in experiment.trials.values()):
            self.incumbents, self.searched_at = {}, 0
            self._evidence, self._why, self._warm, self._theta = {}, {}, {}, {}
            self.comparisons = {}
        record = newest_record(experiment)
        if (
            record is not None
            and record.offered == self.structures
            and record.selection == self.selection
            and record.searched_at >= self.searched_at
        ):
            self.incumbents = {m: dict(w) for m, w in record.incumbents.items()}
            self.searched_at = record.searched_at
            self._evidence = {m: dict(e) for m, e in record.evidence.items()}
            self._why = dict(record.why)
            # What was fitted last is nearest, and the others are kept for later draws.
            newer = {} if record.rows == rows else record.theta
            self._warm = {
                metric: {
                    **record.warm.get(metric, {}),
                    **newer.get(metric, {}),
                }
                for metric in record.warm.keys() | newer.keys()
            }
            self._theta = {m: dict(t) for m, t in record.theta.items()}

    def _search_if_due(
        self,
        structures: tuple[Structure, ...],
        rows: int,
        experiment: Experiment,
        data: Data | None,
        kwargs: dict[str, Any],
    ) -> None:
        """Compares the structures if the data have grown enough since the last time."""
        # No metric has more observations than there are rows.
        if rows < max(MIN_ROWS, GROWTH * self.searched_at):
            return
        reader = data_generator(self.generator_kwargs)
        try:
            reader.fit(experiment=experiment, data=data, **kwargs)
            found = training_data(reader.fitted_adapter)
            count = max(len(metric.y) for metric in found)
        except Exception as error:
            self._note("no data to compare structures on", error)
            return
        if count >= GROWTH * self.searched_at:
            seed = spawn(self.seed, "search", count)
            if self._search(structures, experiment, found, seed):
                self.searched_at = count

    def _search(
        self,
        structures: tuple[Structure, ...],
        experiment: Experiment,
        found: Sequence[MetricData],
        seed: int,
    ) -> bool:
        """Compares the structures on each metric; a failure keeps the incumbents.

        Returns:
            Whether any metric could be compared.
        """
        done = False
        for metric in found:
            name = metric.metric
            try:
                if not is_auto(self.structures):
                    comparison = compared(metric, structures, seed)
                elif is_too_early(metric):
                    self._why[name] = f"{len(metric.y)} observations are too few"
                    continue
                else:
                    space = experiment.search_space
                    comparison = searched(metric, space, self._known(name), seed)
            except NEVER_HEALS:
                raise
            except Exception as error:
                self._note(f"no comparison for {name}", error)
                continue
            self.comparisons[name] = comparison
            self.incumbents[name] = weights(comparison, self.selection)
            self._evidence[name] = evidence_of(comparison)
            self._why[name] = f"{len(metric.y)} observations: {comparison.statement}"
            self._warm[name] = {
                str(c.structure): list(c.fit.theta) for c in comparison.candidates
            }
            done = True
        return done

    def _known(self, metric: str) -> dict[str, list[float]]:
        """The weightiest structures in use, with their last hyperparameters."""
        chosen = self.incumbents.get(metric, {})
        theta = {**self._warm.get(metric, {}), **self._theta.get(metric, {})}
        ranked = sorted(chosen, key=lambda text: -chosen[text])
        return {text: theta[text] for text in ranked[:KEPT] if text in theta}

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
            self._note(f"{level} could not be fitted", error)
            return False
        if level == "structure":
            self._theta = fitted_thetas(self.generator_specs[0], self._chosen)
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

    def _note(self, what: str, error: Exception) -> None:
        text = str(error).strip().splitlines()
        reason = text[0] if text else "no message"
        self._reasons.append(f"{what}: {type(error).__name__}: {reason[:300]}")

    def _use(self, level: str, experiment: Experiment) -> None:
        """Sets the generator spec of a level, keeping the present one if unchanged.

        Ax reuses what is fitted as long as the spec is the same object.
        """
        self._level = level
        if len(experiment.metrics) > 1 and self.selection == "mixture":
            self.incumbents = {m: heaviest(w) for m, w in self.incumbents.items()}
        acquisition = self._acquisition(experiment)
        self._chosen = self._selected(experiment) if level == "structure" else {}
        wanted = (level, self._first, self._chosen, acquisition, self._rows)
        if level == "sobol":
            seed = spawn(self.seed, "sobol", len(experiment.trials))
            self.generator_specs = [sobol_generator(seed)]
        elif self._built_for != wanted:
            first = self._first if level == "structure" else str(FALLBACK)
            self.generator_specs = [
                structured_generator(
                    self._chosen,
                    {first: 1.0},
                    self._warm,
                    self.seed,
                    merged(acquisition, self.generator_kwargs),
                )
            ]
        self._built_for = wanted
        self._generator_spec_to_gen_from = self.generator_specs[0]

    def _selected(self, experiment: Experiment) -> dict[str, Weights]:
        """For each metric the structures that the next candidate comes from."""
        if self.selection != "draw":
            return dict(self.incumbents)
        trial = len(experiment.trials)
        return {
            metric: drawn(chosen, self.seed, "draw", metric, trial)
            for metric, chosen in self.incumbents.items()
        }

    def _acquisition(self, experiment: Experiment) -> dict[str, Any]:
        return acquisition_kwargs(
            self.acquisition, experiment, self.acquisition_options
        )

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
        return super().gen(**kwargs)

    def _gen(
        self,
        experiment: Experiment,
        pending_observations: dict[str, list[ObservationFeatures]] | None,
        data: Data | None,
        n: int | None,
        **generator_gen_kwargs: Any,
    ) -> GeneratorRun:
        occupied = with_failed(experiment, pending_observations)
        pending = max(map(len, occupied.values()), default=0)
        trials = len(experiment.trials)
        seed = spawn(self.seed, "gen", trials, pending, self._attempt)
        self._attempt += 1
        with with_rng_seed(seed), without_library_warnings():
            while True:
                try:
                    run = super()._gen(
                        experiment=experiment,
                        pending_observations=occupied,
                        data=data,
                        n=n,
                        **generator_gen_kwargs,
                    )
                    break
                except OptimizationComplete:
                    raise
                except Exception as error:
                    self._note(f"{self._level} gave no candidate", error)
                    if not self._degrade(experiment, data, {}):
                        raise
        modelled = run._generator_key == Generators.BOTORCH_MODULAR.value
        if modelled and any(repeats_failed(experiment, arm) for arm in run.arms):
            raise GenerationStrategyRepeatedPoints(
                "the candidate is as good as a point that failed"
            )
        run._gen_metadata = {
            **(run.gen_metadata or {}),
            KEY: self._record(run).to_json(),
        }
        return run

    def _record(self, run: GeneratorRun) -> StructureRecord:
        modelled = run._generator_key == Generators.BOTORCH_MODULAR.value
        return StructureRecord(
            offered=list(self.structures),
            selection=self.selection,
            incumbents=self.incumbents,
            searched_at=self.searched_at,
            evidence=self._evidence,
            why=self._why,
            chosen=self._chosen,
            warm=self._warm,
            theta=self._theta,
            rows=self._rows,
            used=self._level if modelled else "sobol",
            reasons=list(self._reasons),
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
            "incumbents": self.incumbents,
            "searched_at": self.searched_at,
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
