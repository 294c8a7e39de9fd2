r"""The posterior of weights, $w \sim N(0, I)$, given $y = \Phi w + \varepsilon$.

With the rows divided by the noise's standard deviations,
$B = I + \Phi^T \Phi = L L^T$ and

$$w \mid y \sim N(B^{-1} \Phi^T y,\; B^{-1}).$$

Further rows U change B by a matrix of their own low rank: with $V = L^{-1} U^T$,
$(B + U^T U)^{-1} = L^{-T} (I - V (I + V^T V)^{-1} V^T) L^{-1}$, so that what was
factorised stays as it is, and is shared by a batch of fantasies.

References:
    [SSGP]; MATH section 1
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bokern.numerics import cholesky


@dataclass(frozen=True)
class WeightPosterior:
    """What is known of the weights.

    Args:
        factor: L, ``... x F x F``.
        cross: ``Φᵀ y`` of all rows, those of ``added`` too, ``... x F``.
        added: V of rows that came later, ``... x F x q``; None of none.
    """

    factor: Tensor
    cross: Tensor
    added: Tensor | None = None

    @classmethod
    def of(cls, gram: Tensor, cross: Tensor) -> WeightPosterior:
        """From ``Φᵀ Φ``, ``... x F x F``, and ``Φᵀ y``, ``... x F``."""
        eye = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
        return cls(cholesky(gram + eye)[0], cross)

    def updated(self, rows: Tensor, targets: Tensor) -> WeightPosterior:
        """With further rows, exactly as if they had been there at first.

        Args:
            rows: Features divided by the noise's standard deviations, ``... x q x F``.
            targets: Likewise, ``... x q``.
        """
        cross = self.cross + (rows.mT @ targets.unsqueeze(-1)).squeeze(-1)
        V = self._solved(rows)
        if self.added is not None:
            lead = torch.broadcast_shapes(self.added.shape[:-2], V.shape[:-2])
            parts = (self.added, V)
            V = torch.cat([p.expand(*lead, *p.shape[-2:]) for p in parts], -1)
        return WeightPosterior(self.factor, cross, V)

    @property
    def mean(self) -> Tensor:
        """Mean of the weights, ``... x F``."""
        half = self._reduced(self._solved(self.cross.unsqueeze(-2)))
        return self._solved(half.mT, transposed=True).squeeze(-1)

    def predict(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Mean, ``... x n``, and covariance, ``... x n x n``, of the function.

        Args:
            features: ``... x n x F``.
        """
        mean = (features @ self.mean.unsqueeze(-1)).squeeze(-1)
        half = self._solved(features)
        covariance = half.mT @ self._reduced(half)
        covariance = 0.5 * (covariance + covariance.mT)
        # Fantasies of several targets at the same points share a covariance.
        return mean, covariance.expand(*mean.shape, mean.shape[-1])

    def draw(self, standard: Tensor) -> Tensor:
        """Weights from the posterior, ``... x F``, of standard normal numbers."""
        half = standard.unsqueeze(-1)
        if self.added is not None:
            # (I + V Vᵀ)^-½ differs from the identity in the columns of V only.
            values, vectors = torch.linalg.eigh(self.added.mT @ self.added)
            values = values.clamp_min(0.0)
            shrunk = ((1.0 + values).rsqrt() - 1.0) / values.clamp_min(1e-300)
            across = self.added @ vectors
            half = half + across @ (shrunk.unsqueeze(-1) * (across.mT @ half))
        spread = self._solved(half.mT, transposed=True).squeeze(-1)
        return self.mean + spread

    def _solved(self, rows: Tensor, transposed: bool = False) -> Tensor:
        """L⁻¹ of rows, ``... x F x q`` from ``... x q x F``; L⁻ᵀ if ``transposed``."""
        L = self.factor.mT if transposed else self.factor
        if L.dim() == 2:
            flat = rows.reshape(-1, rows.shape[-1])
            found = torch.linalg.solve_triangular(L, flat.mT, upper=transposed)
            return found.mT.reshape(rows.shape).mT
        return torch.linalg.solve_triangular(L, rows.mT, upper=transposed)

    def _reduced(self, half: Tensor) -> Tensor:
        """(I + V Vᵀ)⁻¹ of ``... x F x q``."""
        if self.added is None:
            return half
        V = self.added
        small = torch.eye(V.shape[-1], dtype=V.dtype, device=V.device) + V.mT @ V
        C, _ = torch.linalg.cholesky_ex(small)
        return half - V @ torch.cholesky_solve(V.mT @ half, C)
