"""Functions that change from one behaviour to another."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bokern import hyperpriors
from bokern.kernels.base import Columns, StructureKernel


class ChangePointKernel(StructureKernel):
    r"""One function before a point of a column, an independent one after it.

    Suits series whose character changes: other lengthscales, another variance, a
    trend that begins or ends.

    $$k(x, x') = \bar s(x)\, \bar s(x')\, k_{before}(x, x')
      + s(x)\, s(x')\, k_{after}(x, x'), \qquad
      s(x) = \sigma\big((x_c - m)/w\big),\; \bar s = 1 - s,\; m = \Phi(\zeta)$$

    The location m is learned as ζ, standard normal a priori, so that m is uniform on
    (0, 1) as with a logit of logistic prior; but the prior of ζ is Gaussian, as those
    of all other hyperparameters are in their unconstrained coordinates, and the log
    prior stays one quadratic, which is what Laplace whitening and the screening of
    starts rely on.

    Reduces to: two blocks without correlation as w vanishes; a quarter of the sum of
    the two kernels as it grows.
    Valid for: any d >= 1 and any two kernels, as the covariance of
    $\bar s f_{before} + s f_{after}$. Its variance dips where one fades into the other.
    Cost: that of both kernels and O(n m).

    Args:
        before: Kernel of the function at low values of the column.
        after: Kernel of the function at high values.
        columns: The one column along which it changes.

    References:
        [CKS] and [ABCD]; the sigmoid of the latter, with a width that is learned
    """

    def __init__(
        self, before: StructureKernel, after: StructureKernel, columns: Columns
    ) -> None:
        super().__init__(before.batch_shape)
        self.kernels = nn.ModuleDict({"before": before, "after": after})
        self.columns = columns
        self.register_hyperparameter(
            "location_score", (), hyperpriors.change_location(), positive=False
        )
        self.register_hyperparameter("width", (), hyperpriors.change_width())
        self.initialize_hyperparameter("width", 0.05)

    @property
    def location(self) -> Tensor:
        """Where the change happens, ``batch``, in units of the box."""
        return torch.special.ndtr(self.hyperparameter("location_score"))

    @property
    def width(self) -> Tensor:
        """How gradually, ``batch``: it is 12 to 88 % done within ± 2 widths."""
        return self.hyperparameter("width")

    @property
    def before(self) -> StructureKernel:
        """Kernel at low values of the column."""
        return self._part("before")

    @property
    def after(self) -> StructureKernel:
        """Kernel at high values of the column."""
        return self._part("after")

    def _part(self, name: str) -> StructureKernel:
        part = self.kernels[name]
        assert isinstance(part, StructureKernel)
        return part

    @property
    def label(self) -> str:
        """The name around those of the parts."""
        return f"{super().label}({self.before.label}, {self.after.label})"

    @property
    def num_features(self) -> int | None:
        """Those of both parts, if both have them."""
        before, after = self.before.num_features, self.after.num_features
        return None if before is None or after is None else before + after

    def features(self, x: Tensor) -> Tensor:
        """Those of each part where it holds, side by side."""
        u = self._progress(x).unsqueeze(-1)
        before = torch.sigmoid(-u) * self.before.features(x)
        return torch.cat([before, torch.sigmoid(u) * self.after.features(x)], -1)

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """The parts' covariances, each where it holds."""
        u1, u2 = self._progress(x1), self._progress(x2)
        before = self.before.forward(x1, x2, diag=diag)
        after = self.after.forward(x1, x2, diag=diag)
        # 1 − σ(u) = σ(−u), without cancellation.
        return _both(-u1, -u2, diag) * before + _both(u1, u2, diag) * after

    def _progress(self, x: Tensor) -> Tensor:
        """How far past the change a point is, ``... x n``, in widths."""
        past = self.columns.select(x).squeeze(-1) - self.location.unsqueeze(-1)
        return past / self.width.unsqueeze(-1)


def _both(u1: Tensor, u2: Tensor, diag: bool) -> Tensor:
    """Products of two sigmoids: of pairs, or of each point of one with each other."""
    s1, s2 = torch.sigmoid(u1), torch.sigmoid(u2)
    return s1 * s2 if diag else s1.unsqueeze(-1) * s2.unsqueeze(-2)
