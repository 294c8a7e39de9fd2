"""Points in a square, as far from each other as they can be."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from bokern.problems.problem import Problem

POINTS = 5


class Pack5(Problem):
    """Minus the least distance among five points of the unit square, 10-D.

    Each two parameters are a point. The function is the same for any order of the
    points and any symmetry of the square, both of which move several columns at once;
    it has creases wherever the nearest two change. The best places are the corners and
    the centre.
    """

    name = "pack5"
    bounds = ((0.0, 1.0),) * (2 * POINTS)
    optimum = -math.sqrt(0.5)

    @property
    def optimizers(self) -> tuple[tuple[float, ...], ...]:
        """Corners and centre in all orders."""
        places = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.5))
        return tuple(sum(order, ()) for order in itertools.permutations(places))

    def _evaluate(self, X: Tensor) -> Tensor:
        points = X.reshape(-1, POINTS, 2)
        first, second = torch.combinations(torch.arange(POINTS, device=X.device)).T
        distance = (points[:, first] - points[:, second]).norm(dim=-1)
        return -distance.amin(-1)
