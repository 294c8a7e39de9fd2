"""A card for Ax's analyses: which structures the evidence supports, trial by trial."""

from __future__ import annotations

import html
from typing import final

from ax.adapter.base import Adapter
from ax.analysis.analysis import Analysis
from ax.analysis.plotly.plotly_analysis import (
    PlotlyAnalysisCard,
    create_plotly_analysis_card,
)
from ax.core.experiment import Experiment
from ax.generation_strategy.generation_strategy import GenerationStrategy

from bokern.ax.history import structure_history
from bokern.ax.record import newest_record
from bokern.errors import InputError
from bokern.reporting import structure_probabilities


@final
class StructureAnalysis(Analysis):
    """The structures compared for a metric, and how their probabilities changed.

    For ``client.compute_analyses([StructureAnalysis()])``. The card's table is that of
    `structure_history`, its subtitle what the last comparison said.

    Args:
        metric: Which one, if there are several; the first that was compared by default.
    """

    def __init__(self, metric: str | None = None) -> None:
        self.metric = metric

    def validate_applicable_state(
        self,
        experiment: Experiment | None = None,
        generation_strategy: GenerationStrategy | None = None,
        adapter: Adapter | None = None,
    ) -> str | None:
        """Why there is no card; None if there is one."""
        if experiment is None:
            return "StructureAnalysis needs an experiment"
        history = structure_history(experiment)
        if history.empty:
            return (
                "no structures were compared yet: generate trials with "
                "bokern.ax.generation_strategy, beyond the initial ones"
            )
        metrics = list(dict.fromkeys(history["metric"]))
        if self.metric is not None and self.metric not in metrics:
            return f"structures were compared for {metrics}, not for {self.metric!r}"
        return None

    def compute(
        self,
        experiment: Experiment | None = None,
        generation_strategy: GenerationStrategy | None = None,
        adapter: Adapter | None = None,
    ) -> PlotlyAnalysisCard:
        """The card.

        Raises:
            InputError: If there is none; see `validate_applicable_state`.
        """
        why_not = self.validate_applicable_state(experiment)
        if why_not is not None or experiment is None:
            raise InputError(why_not)
        history = structure_history(experiment)
        metric = self.metric or str(history["metric"].iloc[0])
        record = newest_record(experiment)
        said = record.why.get(metric, "") if record is not None else ""
        # Ax puts titles into its pages as they are.
        return create_plotly_analysis_card(
            name=type(self).__name__,
            title=html.escape(f"Structures of {metric}"),
            subtitle=html.escape(said),
            df=history[history["metric"] == metric].reset_index(drop=True),
            fig=structure_probabilities(history, metric),
        )
