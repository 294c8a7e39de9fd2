"""Eight real tables, chosen by where they come from.

They are the five materials tables of a published benchmark of optimisers, all of them,
and of each of three families of tables of tuned networks the first by name. Ranges of
the materials are the limits of their designs. Where the amounts of a mixture add up to
the same in every design, the last follows from the others and is no parameter. Tuned
networks have the values of their grids as choices, numbers in order and texts without;
what is to be maximised is turned round.

References:
    Liang et al.: Benchmarking the performance of Bayesian optimization across multiple
    experimental materials science domains. npj Computational Materials 7, 2021.
    Eggensperger et al.: HPOBench. NeurIPS Datasets and Benchmarks, 2021.
    Klein, Hutter: Tabular benchmarks for joint architecture and hyperparameter
    optimization. 2019 (HPOLib).
    Dong, Yang: NAS-Bench-201. ICLR 2020.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import data_folder, load_arrays
from benchmarks.optimise.real_table import RealTable
from bokern.optimize.space import choice

META = "bo_tables/meta.json"
SUM_TOLERANCE = 0.02
"""Sums of a mixture differ by at most this share: they are rounded."""


@dataclass(frozen=True)
class Source:
    """Where a table is.

    Args:
        file: In the data folder.
        target: What is optimised: of a table of networks the name of an array.
        top: The value from which it is subtracted to be minimised; None if it is
            minimised as it is.
    """

    file: str
    target: str = ""
    top: float | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files it needs."""
        return (self.file,) if self.target else (self.file, META)


MATERIALS = {
    name: Source(f"bo_tables/pvlab_{name}.csv.gz")
    for name in ("agnp", "autoam", "crossed_barrel", "p3ht_cnt", "perovskite")
}
NETWORKS = {
    "hpobench_australian": Source("hpo/hpobench_australian.npz", "val_acc", 1.0),
    "hpolib_naval": Source("hpo/hpolib_naval_propulsion.npz", "val_loss"),
    "nasbench201_cifar10": Source("hpo/nasbench201_cifar10.npz", "val_acc", 100.0),
}
REAL_TABLES = MATERIALS | NETWORKS


def real_table(name: str, seed: int) -> RealTable:
    """A table of the data folder; the seed orders its repeated measurements."""
    read = _networks if name in NETWORKS else _materials
    return RealTable(name, *read(name), seed=seed)


@cache
def _materials(name: str) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    described = json.loads((data_folder() / META).read_text())[f"pvlab_{name}"]
    columns = [parameter["name"] for parameter in described["parameters"]]
    (target,) = described["measurements"]
    table = pd.read_csv(data_folder() / MATERIALS[name].file)
    sign = -1.0 if described["default_goal"] == "maximize" else 1.0
    groups = table.groupby(columns)[target]
    repeats = [sign * values.to_numpy(float) for _, values in groups]
    designs = np.array([key for key, _ in groups], float)
    sums = designs.sum(1)
    if np.ptp(sums) <= SUM_TOLERANCE * abs(sums.mean()):
        designs = designs[:, :-1]
    limits = zip(designs.min(0).tolist(), designs.max(0).tolist(), strict=True)
    space = {f"x{j}": limit for j, limit in enumerate(limits, start=1)}
    measurements = np.full((len(repeats), max(map(len, repeats))), np.nan)
    for row, values in zip(measurements, repeats, strict=True):
        row[: len(values)] = values
    return space, designs, measurements


@cache
def _networks(name: str) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    source = NETWORKS[name]
    arrays = load_arrays(source.file)
    choices = json.loads(str(arrays["choices"]))
    names = arrays["param_names"].tolist()
    space = {name: _declared(choices[name]) for name in names}
    measurements = arrays[source.target].astype(float)
    if source.top is not None:
        measurements = source.top - measurements
    return space, arrays["config"].astype(float), measurements


def _declared(values: list[Any]) -> Any:
    """Numbers are in order, texts are not."""
    if all(isinstance(value, str) for value in values):
        return choice(*values)
    if any(isinstance(value, float) for value in values):
        return [float(value) for value in values]
    return values
