"""HEBO as it comes, after the shared points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from benchmarks.optimise.peers.protocol import Dimension, Point, Setup


class Hebo:
    """Its model is in use from the first point on that it chooses."""

    def __init__(self, setup: Setup) -> None:
        np.random.seed(setup.seed)  # noqa: NPY002
        torch.manual_seed(setup.seed)
        space = DesignSpace().parse([_parameter(d) for d in setup.space])
        self._unordered = {d.name for d in setup.space if d.kind == "unordered"}
        self._optimizer = HEBO(
            space, rand_sample=len(setup.initial), scramble_seed=setup.seed
        )
        for point, value in zip(setup.initial, setup.values, strict=True):
            self.tell(point, value)

    def ask(self) -> Point:
        """The next point to evaluate."""
        row = self._optimizer.suggest(n_suggestions=1).iloc[0]
        return {str(name): float(x) for name, x in row.items()}

    def tell(self, point: Point, value: float) -> None:
        """The value of the point that was asked for last."""
        own = {k: str(int(x)) if k in self._unordered else x for k, x in point.items()}
        self._optimizer.observe(pd.DataFrame([own]), np.array([[value]]))


def _parameter(dimension: Dimension) -> dict[str, Any]:
    name = dimension.name
    if dimension.kind == "real":
        return {"name": name, "type": "num", "lb": dimension.low, "ub": dimension.high}
    if dimension.kind == "ordered":
        return {"name": name, "type": "int", "lb": 0, "ub": dimension.count - 1}
    categories = [str(place) for place in range(dimension.count)]
    return {"name": name, "type": "cat", "categories": categories}
