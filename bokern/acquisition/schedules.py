"""The schedules of GP-UCB: how far the confidence band reaches after t observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from bokern.errors import SpaceError


class Schedule(Protocol):
    """Anything that turns a number of observations into an exploration weight."""

    def beta(self, t: int) -> float:
        """The weight after ``t >= 1`` observations; GP-UCB uses its square root."""
        ...


@dataclass(frozen=True)
class FiniteSchedule:
    r"""The schedule for a finite set of candidates.

    $$\beta_t = s \cdot 2 \log\frac{|D|\, t^2 \pi^2}{6 \delta}$$

    With ``scale=1`` the regret bound holds with probability ``1 - delta``; the default
    of one fifth is what the authors' experiments use, since the bound's own weights
    explore far too long.

    Args:
        size: Number of candidates, ``|D|``.
        delta: Probability with which the confidence band may fail.
        scale: Factor ``s`` on beta.

    Raises:
        SpaceError: If an argument is out of range.

    References:
        [GP-UCB] theorem 1; the factor: its section V.
    """

    size: int
    delta: float = 0.1
    scale: float = 0.2

    def __post_init__(self) -> None:
        _check_positive(self, size=self.size, scale=self.scale)
        _check_probability(self, self.delta)

    def beta(self, t: int) -> float:
        """The exploration weight after ``t`` observations."""
        t = _check_time(t)
        # A sum of logarithms: the size of a large grid does not fit in a float.
        return (
            2.0
            * self.scale
            * (
                math.log(self.size)
                + 2.0 * math.log(t)
                + math.log(math.pi**2 / (6.0 * self.delta))
            )
        )


@dataclass(frozen=True)
class ContinuousSchedule:
    r"""The schedule for a box of side ``r`` in ``dim`` dimensions.

    $$\beta_t = s \left[ 2 \log\frac{2 \pi^2 t^2}{3 \delta}
        + 2 d \log\!\left(t^2 d\, b\, r \sqrt{\log(4 d a / \delta)}\right) \right]$$

    It rests on $\Pr[\sup |\partial f / \partial x_j| > L] \le a e^{-(L/b)^2}$, which
    holds for the squared-exponential kernel and for Matérn kernels with smoothness
    above 2.

    Args:
        dim: Number of columns, ``d``.
        delta: Probability with which the confidence band may fail.
        a: Constant of the bound on the derivatives.
        b: Scale of the derivatives, per unit of the box.
        r: Side of the box; 1 where inputs are scaled to the unit cube.
        scale: Factor ``s`` on beta; 1 is the schedule of the theorem.

    Raises:
        SpaceError: If an argument is out of range, or the constants are so small that
            the weight would be negative.

    References:
        [GP-UCB] theorem 2; the factor: its section V.
    """

    dim: int
    delta: float = 0.1
    a: float = 1.0
    b: float = 1.0
    r: float = 1.0
    scale: float = 0.2

    def __post_init__(self) -> None:
        _check_positive(
            self, dim=self.dim, a=self.a, b=self.b, r=self.r, scale=self.scale
        )
        _check_probability(self, self.delta)
        if 4.0 * self.dim * self.a <= self.delta or self.beta(1) < 0.0:
            raise SpaceError(
                f"{self} gives no weight to exploration at the first observation: "
                "raise a, b or r, or lower delta"
            )

    def beta(self, t: int) -> float:
        """The exploration weight after ``t`` observations."""
        t = _check_time(t)
        slope = (
            self.b * self.r * math.sqrt(math.log(4.0 * self.dim * self.a / self.delta))
        )
        return self.scale * (
            2.0 * math.log(2.0 * math.pi**2 * t**2 / (3.0 * self.delta))
            + 2.0 * self.dim * math.log(t**2 * self.dim * slope)
        )


def _check_positive(schedule: Schedule, **values: float) -> None:
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise SpaceError(
                f"{type(schedule).__name__}: {name} must be a positive number, "
                f"got {value!r}"
            )


def _check_probability(schedule: Schedule, delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise SpaceError(
            f"{type(schedule).__name__}: delta is a probability strictly between 0 "
            f"and 1, got {delta!r}"
        )


def _check_time(t: int) -> int:
    if t < 1:
        raise SpaceError(
            f"a GP-UCB schedule counts observations from 1, got t = {t!r}: "
            "observe at least one point before asking for a candidate"
        )
    return t
