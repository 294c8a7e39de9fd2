"""Columns in the words and units of the user: names, ranges, lengths, places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bokern.kernels import KumaraswamyKernel

UNEVEN = 0.1
"""By how much a third of a warped range must differ from a third of the range, as a
share of it, for the warp to be worth a word."""

MOST_NAMES = 4

THIRDS = ("first third", "middle", "last third")


def number(value: float, digits: int = 3) -> str:
    """A number to a few significant digits, its whole part never rounded away."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}".replace("-", "−")
    size = math.floor(math.log10(abs(value)))
    if not -4 <= size < 7:
        return f"{value:.{digits}g}".replace("-", "−")
    return _trimmed(value, max(0, digits - 1 - size))


def percent(share: float) -> str:
    """A share of the variance in per cent; it may be negative, or above 100."""
    size = abs(share)
    if 0.0 < size < 0.001:
        return "less than 0.1 %" if share > 0 else "more than −0.1 %"
    return f"{_trimmed(100.0 * share, 1 if size < 0.0995 else 0)} %"


def probability(value: float) -> str:
    """A probability in per cent, never rounded to a certainty."""
    return "more than 99.9 %" if value > 0.999 else percent(value)


def listed(words: Sequence[str], most: int = MOST_NAMES) -> str:
    """Words joined by commas and an "and", the last ones counted if there are many."""
    if len(words) > most + 1:
        words = [*words[:most], f"{len(words) - most} others"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def relative(length: float) -> str:
    """A length of the unit cube as a share of the column's range."""
    if length >= 1.0:
        times = number(length, 2)
        return "about its range" if times == "1" else f"{times} times its range"
    return f"{number(100.0 * length, 2)} % of its range"


def _trimmed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return ("0" if text == "-0" else text).replace("-", "−")


@dataclass(frozen=True, eq=False)
class Axes:
    """The columns that a kernel sees, and what they are in raw units.

    Args:
        names: Of the columns.
        low: Lower ends of the box, ``d``, raw units.
        width: Its widths, ``d``, raw units.
        marks: Where the warps around a kernel carry 0, 1/3, 2/3 and 1 of the box, in
            units of the box, ``4 x d``.
    """

    names: tuple[str, ...]
    low: tuple[float, ...]
    width: tuple[float, ...]
    marks: Tensor

    @classmethod
    def of(cls, names: Sequence[str], bounds: Tensor) -> Axes:
        """The axes of a box, ``2 x d``, that nothing warps."""
        low, high = bounds.double().cpu()
        marks = torch.linspace(0.0, 1.0, 4).to(low).unsqueeze(-1).expand(4, len(low))
        return cls(
            tuple(names), tuple(low.tolist()), tuple((high - low).tolist()), marks
        )

    def named(self, columns: Sequence[int]) -> str:
        """The names of some columns, in words."""
        return listed([self.names[c] for c in columns])

    def under(self, warp: KumaraswamyKernel) -> Axes:
        """The axes as a kernel under this warp sees them."""
        with torch.no_grad():
            device = warp.columns.index.device
            return replace(self, marks=warp.warp(self.marks.to(device)).cpu())

    def thirds(self, column: int) -> list[float]:
        """What each third of the box has become, in units of the box."""
        return self.marks[:, column].diff().tolist()

    def is_warped(self, column: int) -> bool:
        """Whether the thirds differ enough to be worth a word."""
        return any(abs(3.0 * part - 1.0) > UNEVEN for part in self.thirds(column))

    def place(self, column: int, value: float) -> str:
        """A point of the unit cube as a value of the column."""
        width = self.width[column]
        raw = self.low[column] + value * width
        decimals = 2 - math.floor(math.log10(width))
        if decimals > 8 or abs(raw) >= 1e9:
            return f"{raw:.6g}".replace("-", "−")
        return _trimmed(raw, max(0, decimals))

    def length(self, column: int, value: float, named: bool = True) -> str:
        """A length of the unit cube in the column's own units.

        Under a warp it is another length in each third of the range.

        Args:
            column: Its number.
            value: In units of the box.
            named: Whether to name the column.
        """
        of = f" in {self.names[column]}" if named else ""
        if self.is_warped(column):
            parts = zip(self.thirds(column), THIRDS, strict=True)
            local = [
                f"{number(value / (3.0 * part) * self.width[column])} in the {third}"
                for part, third in parts
            ]
            return f"{listed(local)}{f' of {self.names[column]}' if named else ''}"
        return f"{number(value * self.width[column])}{of} ({relative(value)})"

    def stretch(self, column: int) -> str:
        """Which part of a warped column is stretched, and by how much each third."""
        name, thirds = self.names[column], self.thirds(column)
        low, middle, high = (number(3.0 * part, 2) for part in thirds)
        where = ("near its low end", "in its middle", "near its high end")
        most = max(range(3), key=thirds.__getitem__)
        ends = "at both ends" if min(thirds[0], thirds[2]) > 1 / 3 else where[most]
        return (
            f"{name} is stretched {ends} (its thirds count {low}, {middle} and {high} "
            "times)"
        )
