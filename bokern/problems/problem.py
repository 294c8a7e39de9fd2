"""What every test problem offers: a box, a function on it, and what is known of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor

from bokern.errors import ColumnError, ShapeError


class Problem(ABC):
    """A black box to minimise, whose minimum is known.

    A problem is a function of a tensor through ``evaluate`` and a function of a
    mapping of parameters through a call, so the same object serves tensor code,
    ``bokern.minimize(problem, problem.space, budget)`` and other optimisers.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, unique among the problems."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper bound of each parameter, in raw units."""

    @property
    @abstractmethod
    def optimum(self) -> float:
        """The least value on the box."""

    @property
    @abstractmethod
    def optimizers(self) -> tuple[tuple[float, ...], ...]:
        """The points at which the least value is reached, in raw units."""

    @property
    def group(self) -> str | None:
        """The group under which the function is invariant, as text, or None."""
        return None

    @abstractmethod
    def _evaluate(self, X: Tensor) -> Tensor:
        """The values at an ``n x dim`` tensor that has been validated."""

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return len(self.bounds)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``x1`` to ``x<dim>``."""
        return tuple(f"x{i}" for i in range(1, self.dim + 1))

    @property
    def space(self) -> dict[str, tuple[float, float]]:
        """The box as a mapping from parameter names to bounds."""
        return dict(zip(self.parameter_names, self.bounds, strict=True))

    def evaluate(self, X: Tensor) -> Tensor:
        """The values of the function, without noise.

        Args:
            X: Points in raw units, ``n x dim``, of any floating dtype.

        Returns:
            The ``n`` values, in the dtype and on the device of ``X``.

        Raises:
            ShapeError: If ``X`` is not ``n x dim``.
        """
        if X.dim() != 2 or X.shape[-1] != self.dim:
            raise ShapeError(
                f"{self.name} expects points of shape n x {self.dim}, got "
                f"{tuple(X.shape)}; pass one point as a 1 x {self.dim} tensor."
            )
        return self._evaluate(X)

    def __call__(self, parameters: Mapping[str, float]) -> float:
        """The value at one point, given as a mapping of parameters.

        Args:
            parameters: A value for each of ``parameter_names``.

        Raises:
            ColumnError: If the names are not exactly ``parameter_names``.
        """
        if set(parameters) != set(self.parameter_names):
            raise ColumnError(
                f"{self.name} expects the parameters "
                f"{', '.join(self.parameter_names)}, got "
                f"{', '.join(map(str, parameters)) or 'none'}; use the problem's "
                f"own `space`."
            )
        row = [float(parameters[name]) for name in self.parameter_names]
        return float(self.evaluate(torch.tensor([row], dtype=torch.float64))[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
