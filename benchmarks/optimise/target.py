"""What a method minimises: a space and a function on it whose minimum is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from bokern.optimize.space import Parameter, Value, read_space

Parameters = dict[str, Value]


class Target(Protocol):
    """A black box to minimise; `bokern.problems.Problem` is one."""

    @property
    def name(self) -> str:
        """A short name."""

    @property
    def space(self) -> Mapping[str, Any]:
        """Parameters by name, as `bokern.minimize` takes them."""

    @property
    def optimum(self) -> float:
        """The least value without noise."""

    @property
    def group(self) -> str | None:
        """The group under which it is invariant, as text, or None."""

    def __call__(self, parameters: Mapping[str, Any]) -> float:
        """The value at a point, without noise."""


def parameters_of(target: Target) -> tuple[Parameter, ...]:
    """The parameters of a target's space, in order."""
    return read_space(target.space)
