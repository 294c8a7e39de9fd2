"""One requirement of a goal, and what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

ENOUGH = 1e-9
"""Figures that are equal to what is required reach it."""


@dataclass(frozen=True)
class Part:
    """One requirement of a goal, and what was measured.

    Args:
        number: Of the goal.
        goal: What is required of what.
        figure: What was measured; NaN if nothing was.
        required: The figure that it takes.
        least: Whether the figure must be that or more, not that or less.
        seeds: The least number of seeds that any objective of it has.
        complete: Whether every objective was measured.
        detail: The figures that make up the figure.
        share: Whether the figure is a share.
    """

    number: int
    goal: str
    figure: float
    required: float
    least: bool
    seeds: int
    complete: bool = True
    detail: str = ""
    share: bool = False

    @property
    def verdict(self) -> str:
        """``reached``, ``not reached`` or ``not measured``."""
        if not self.complete or math.isnan(self.figure):
            return "not measured"
        excess = self.figure - self.required
        met = excess >= -ENOUGH if self.least else excess <= ENOUGH
        return "reached" if met else "not reached"

    @property
    def measured(self) -> str:
        """The figure as text, the least or greatest of several first."""
        if math.isnan(self.figure):
            return "–"
        return self._text(self.figure) + (f" ({self.detail})" if self.detail else "")

    @property
    def requirement(self) -> str:
        """What it takes, as text."""
        return ("≥ " if self.least else "≤ ") + self._text(self.required)

    def _text(self, figure: float) -> str:
        return f"{figure:.0%}" if self.share else f"{figure:.3g}"
