"""Problems whose functions BoTorch ships; optima to full double precision."""

from __future__ import annotations

import copy
import math

from botorch.test_functions import synthetic
from torch import Tensor

from bokern.problems.problem import Problem


class _Shipped(Problem):
    """A problem that evaluates a BoTorch test function."""

    _function: synthetic.SyntheticTestFunction

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper bound of each parameter, in raw units."""
        box = self._function.get_buffer("bounds")
        return tuple((float(low), float(high)) for low, high in box.mT)

    def _evaluate(self, X: Tensor) -> Tensor:
        # `to` works in place: the original keeps its constants in full precision.
        return copy.deepcopy(self._function).to(X).evaluate_true(X)


class Branin(_Shipped):
    """Branin, 2-D: three equal minima; a stationary control."""

    name = "branin"
    optimum = 5 / (4 * math.pi)
    optimizers = (
        (-math.pi, 12.275),
        (math.pi, 2.275),
        (3 * math.pi, 2.475),
    )

    def __init__(self) -> None:
        self._function = synthetic.Branin()


class Hartmann6(_Shipped):
    """Hartmann, 6-D: a few smooth wells; a stationary control."""

    name = "hartmann6"
    optimum = -3.322368004440186
    optimizers = (
        (0.20168951, 0.15001069, 0.47687397, 0.27533243, 0.31165162, 0.65730053),
    )

    def __init__(self) -> None:
        self._function = synthetic.Hartmann(dim=6)


class Michalewicz5(_Shipped):
    """Michalewicz, 5-D: steep ridges between plateaus."""

    name = "michalewicz5"
    optimum = -4.6876581790881495
    optimizers = ((2.20290552, 1.57079633, 1.28499157, 1.92305847, 1.72046977),)

    def __init__(self) -> None:
        self._function = synthetic.Michalewicz(dim=5)


class Bukin6(_Shipped):
    """Bukin no. 6, 2-D: a narrow, curved valley with a crease along its floor."""

    name = "bukin6"
    optimum = 0.0
    optimizers = ((-10.0, 1.0),)

    def __init__(self) -> None:
        self._function = synthetic.Bukin()


class Ackley5(_Shipped):
    """Ackley, 5-D, its minimum moved off the centre of the box; a rough control.

    Unmoved it is the same under all permutations and sign changes.
    """

    name = "ackley5"
    bounds = ((-32.768, 32.768),) * 5
    shift = (13.1, -7.9, 4.3, -17.7, 9.1)
    optimum = 0.0
    optimizers = (shift,)

    def __init__(self) -> None:
        # BoTorch refuses points outside its box, where moved ones may lie.
        self._function = synthetic.Ackley(dim=5, bounds=[(-100.0, 100.0)] * 5)

    def _evaluate(self, X: Tensor) -> Tensor:
        return super()._evaluate(X - X.new_tensor(self.shift))
