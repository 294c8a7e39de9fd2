"""The probabilities of structures as an experiment went on."""

from __future__ import annotations

from typing import Any

import pandas as pd
from ax.api.client import Client
from ax.core.experiment import Experiment

from bokern.ax.record import record_of

COLUMNS = (
    "trial",
    "metric",
    "structure",
    "probability",
    "log_evidence",
    "standard_error",
    "searched_at",
)


def structure_history(source: Client | Experiment) -> pd.DataFrame:
    """Evidences of the structures compared, as they stood when each trial was made.

    They stand in the record of each generator run, and so in any stored experiment.

    Args:
        source: An Ax client or experiment.

    Returns:
        A row for each trial, metric and structure: ``trial``, ``metric``,
        ``structure``, ``probability`` (given those compared), ``log_evidence`` and
        ``standard_error`` (nats, of the targets after Ax's transforms) and
        ``searched_at`` (observations when it was last begun). Trials before the first
        comparison have none.
    """
    experiment = source._experiment if isinstance(source, Client) else source
    rows: list[dict[str, Any]] = []
    for index in sorted(experiment.trials):
        for run in experiment.trials[index].generator_runs[-1:]:
            record = record_of(run)
            if record is None:
                continue
            for metric, structures in record.evidence.items():
                for structure, numbers in structures.items():
                    row = {"trial": index, "metric": metric, "structure": structure}
                    at = {"searched_at": record.searched_at.get(metric, 0)}
                    rows.append({**row, **numbers, **at})
    return pd.DataFrame(rows, columns=list(COLUMNS))
