"""Functions that change faster in one part of their box than in another."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from bokern.problems.problem import Problem


class GramacyLee(Problem):
    r"""Gramacy and Lee's function, 1-D: oscillations that die out, then a rise.

    $$f(x) = \frac{\sin(10 \pi x)}{2 x} + (x - 1)^4$$
    """

    name = "gramacy_lee"
    bounds = ((0.5, 2.5),)
    optimum = -0.8690111349894999
    optimizers = ((0.54856344,),)

    def _evaluate(self, X: Tensor) -> Tensor:
        x = X[:, 0]
        return torch.sin(10 * math.pi * x) / (2 * x) + (x - 1) ** 4


class Xiong(Problem):
    r"""Xiong's function, 1-D: fast oscillations on the left, smooth on the right.

    $$f(x) = -\tfrac12 \bigl(\sin(40 (x - .85)^4) \cos(2.5 (x - .95))
        + \tfrac12 (x - .9) + 1\bigr)$$
    """

    name = "xiong"
    bounds = ((0.0, 1.0),)
    optimum = -0.6093128129555827
    optimizers = ((0.03899813,),)

    def _evaluate(self, X: Tensor) -> Tensor:
        x = X[:, 0]
        wave = torch.sin(40 * (x - 0.85) ** 4) * torch.cos(2.5 * (x - 0.95))
        return -(wave + (x - 0.9) / 2 + 1) / 2


class Gramacy2D(Problem):
    r"""Gramacy's plateau, 2-D: a bump and a dip side by side in an empty plain.

    The minimum lies beside the maximum: $f(x) = x_1 e^{-x_1^2 - x_2^2}$.
    """

    name = "gramacy2d"
    bounds = ((-2.0, 6.0), (-2.0, 6.0))
    optimum = -1 / math.sqrt(2 * math.e)
    optimizers = ((-1 / math.sqrt(2), 0.0),)

    def _evaluate(self, X: Tensor) -> Tensor:
        return X[:, 0] * torch.exp(-X.square().sum(-1))
