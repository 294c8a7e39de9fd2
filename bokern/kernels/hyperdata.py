"""Values that the latents of a deep kernel are given, and where."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

SEED = 0
"""Of the scrambled sequence of places."""


class Hyperdata(nn.Module):
    r"""Places in the unit cube, and values of H latents there.

    A plain module, so that GPyTorch's batch indexing leaves the places alone.

    Args:
        places: ``J x d``.
        width: Number H of latents.

    Attributes:
        straight: Hyperparameters that give the prior mean itself, $u = \mu(Z)$, where
            they are 0.
    """

    places: Tensor
    straight: ClassVar[tuple[str, ...]]

    def __init__(self, places: Tensor, width: int) -> None:
        super().__init__()
        self.width = width
        self.register_buffer("places", places, persistent=False)

    @property
    @abstractmethod
    def hyperparameters(self) -> Mapping[str, tuple[int, ...]]:
        """Trailing shapes of what is learned; standard normal each."""

    @abstractmethod
    def whitened(self, factor: Tensor, values: Mapping[str, Tensor]) -> Tensor:
        r"""$L^{-1} (u - \mu(Z)) / \sigma_1$, ``... x J x H``.

        Args:
            factor: L, ``... x J x J``.
            values: Hyperparameters by name.
        """


class WhitenedHyperdata(Hyperdata):
    r"""$u = \mu(Z) + \sigma_1 L w$: the prior of the layer itself."""

    straight = ("whitened",)

    @property
    def hyperparameters(self) -> Mapping[str, tuple[int, ...]]:
        """Values of w, J x H."""
        return {"whitened": (len(self.places), self.width)}

    def whitened(self, factor: Tensor, values: Mapping[str, Tensor]) -> Tensor:
        """As they are."""
        return values["whitened"]


class FreeHyperdata(Hyperdata):
    r"""$u = \mu(Z) + \sigma_1 e$: each value by itself, not bound to others."""

    straight = ("offset",)

    @property
    def hyperparameters(self) -> Mapping[str, tuple[int, ...]]:
        """Values of e, J x H."""
        return {"offset": (len(self.places), self.width)}

    def whitened(self, factor: Tensor, values: Mapping[str, Tensor]) -> Tensor:
        """Solved for."""
        offset = values["offset"].expand(*factor.shape[:-1], self.width)
        return torch.linalg.solve_triangular(factor, offset, upper=False)


class NetworkHyperdata(Hyperdata):
    r"""$u = \mu(Z) + \sigma_1 e(Z)$, where e is a small tanh network of the places.

    Args:
        places: ``J x d``.
        width: Number H of latents.
        units: In the hidden layer.

    References:
        [CDGP] section 3.3
    """

    straight = ("output_weight", "output_bias")

    def __init__(self, places: Tensor, width: int, units: int = 5) -> None:
        super().__init__(places, width)
        self.units = units

    @property
    def hyperparameters(self) -> Mapping[str, tuple[int, ...]]:
        """Weights and biases of two layers."""
        return {
            "input_weight": (self.places.shape[-1], self.units),
            "input_bias": (1, self.units),
            "output_weight": (self.units, self.width),
            "output_bias": (1, self.width),
        }

    def whitened(self, factor: Tensor, values: Mapping[str, Tensor]) -> Tensor:
        """Solved for; the network sees the cube as [-1, 1]."""
        centred = 2.0 * self.places.to(factor) - 1.0
        hidden = torch.tanh(centred @ values["input_weight"] + values["input_bias"])
        offset = hidden @ values["output_weight"] + values["output_bias"]
        offset = offset.expand(*factor.shape[:-1], self.width)
        return torch.linalg.solve_triangular(factor, offset, upper=False)


HYPERDATA: Mapping[str, type[Hyperdata]] = {
    "whitened": WhitenedHyperdata,
    "free": FreeHyperdata,
    "network": NetworkHyperdata,
}
"""What is learned of hyperdata, by name."""


def spread_places(
    count: int, columns: Sequence[int], dim: int, reach: float = 1.0
) -> Tensor:
    """Places that fill the cube: a grid along one column, else scrambled Sobol points.

    Args:
        count: How many.
        columns: Along which they are spread; the others stay at ½.
        dim: Number of columns.
        reach: Upper end of each, beyond 1 to cover a forecast.

    Returns:
        ``count x dim``.
    """
    if len(columns) == 1:
        grid = torch.linspace(0.0, 1.0, count, dtype=torch.float64)
        unit = (grid if count > 1 else grid + 0.5).unsqueeze(-1)
    else:
        engine = torch.quasirandom.SobolEngine(len(columns), scramble=True, seed=SEED)
        unit = engine.draw(count, dtype=torch.float64)
    places = torch.full((count, dim), 0.5, dtype=torch.float64)
    places[:, list(columns)] = reach * unit
    return places
