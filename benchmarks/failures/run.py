"""Branin's function where it fails beyond a disk, or above a line."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import bokern
from benchmarks.tasks import Record
from benchmarks.versions import versions
from bokern.problems import Branin

BUDGET, INITIAL = 30, 5

REGIONS: dict[str, Callable[[float, float], bool]] = {
    "disk": lambda a, b: (a - 2.5) ** 2 + (b - 7.5) ** 2 <= 50.0,
    "corner": lambda a, b: a + b <= 8.25,
}
"""Where evaluations succeed: .69 and .39 of the box, a global optimum in each."""


class FailedError(Exception):
    """What an evaluation beyond the region raises."""


class PartlyFailing:
    """Branin's function, which counts its failures.

    Args:
        region: A name of ``REGIONS``.
    """

    def __init__(self, region: str) -> None:
        self.problem = Branin()
        self.works = REGIONS[region]
        self.values: list[float] = []
        self.failed = 0

    def __call__(self, parameters: Mapping[str, float]) -> float:
        """The value at a point."""
        a, b = (parameters[name] for name in self.problem.parameter_names)
        if not self.works(a, b):
            self.failed += 1
            raise FailedError("beyond the region")
        self.values.append(self.problem(parameters))
        return self.values[-1]


def run_bokern(function: PartlyFailing, seed: int) -> None:
    """As it comes."""
    bokern.minimize(
        function,
        function.problem.space,
        BUDGET,
        initial=INITIAL,
        seed=seed,
        progress=False,
    )


def run_ax(function: PartlyFailing, seed: int) -> None:
    """Ax's default ``Client``, told of each failure."""
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig
    from ax.utils.common.logger import set_ax_logger_levels

    set_ax_logger_levels(logging.WARNING)
    client = Client(random_seed=seed)
    client.configure_experiment(
        parameters=[
            RangeParameterConfig(name=name, parameter_type="float", bounds=bounds)
            for name, bounds in function.problem.space.items()
        ]
    )
    client.configure_optimization(objective="-value")
    for _ in range(BUDGET):
        for index, suggested in client.get_next_trials(max_trials=1).items():
            try:
                value = function({name: float(x) for name, x in suggested.items()})
            except FailedError:
                client.mark_trial_failed(index)
            else:
                client.complete_trial(index, raw_data={"value": value})


METHODS = {"bokern": run_bokern, "ax": run_ax}


@dataclass(frozen=True)
class FailureRun:
    """A run that can be pickled and that names itself."""

    region: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """Region, method and seed."""
        return f"{self.region}/{self.method}/{self.seed}"

    def execute(self) -> Record:
        """Optimises, and counts."""
        function = PartlyFailing(self.region)
        began, error = time.process_time(), None
        try:
            METHODS[self.method](function, self.seed)
        except Exception as caught:
            error = repr(caught)
        return {
            "region": self.region,
            "method": self.method,
            "seed": self.seed,
            "regret": min(function.values, default=np.inf) - function.problem.optimum,
            "failed": function.failed,
            "evaluated": len(function.values) + function.failed,
            "error": error,
            "cpu_seconds": time.process_time() - began,
            "versions": versions(),
        }


def summary(records: list[Record]) -> str:
    """Medians and quartiles over seeds, as a table."""
    lines = [
        "| region | method | seeds | regret: median [quartiles] | failed of "
        f"{BUDGET}: median | CPU s: median | errors |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for region, method in dict.fromkeys((r["region"], r["method"]) for r in records):
        runs = [r for r in records if (r["region"], r["method"]) == (region, method)]
        regret = np.array([r["regret"] for r in runs])
        # A run without a value has an infinite regret, between which numpy gives NaN.
        low, median, high = np.quantile(regret, [0.25, 0.5, 0.75], method="nearest")
        failed, cpu = (
            np.median([r[k] for r in runs]) for k in ("failed", "cpu_seconds")
        )
        errors = sum(r["error"] is not None for r in runs)
        lines.append(
            f"| {region} | {method} | {len(runs)} | {median:.3g} [{low:.3g}, "
            f"{high:.3g}] | {failed:g} | {cpu:.3g} | {errors} |"
        )
    return "\n".join(lines)
