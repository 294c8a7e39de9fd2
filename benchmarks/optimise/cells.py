"""A table as markdown and as HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cells:
    """A table of texts.

    Args:
        title: What stands above it.
        header: Names of the columns.
        rows: As many texts each as there are columns.
        notes: What stands below it.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: str = ""

    def markdown(self) -> str:
        """With the title as a heading."""
        lines = [list(self.header), ["---"] * len(self.header), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"## {self.title}\n\n{table}\n" + (
            f"\n{self.notes}\n" * bool(self.notes)
        )

    def html(self) -> str:
        """A section of a page."""
        rows = [_row("th", self.header), *(_row("td", row) for row in self.rows)]
        notes = f"<p>{html.escape(self.notes)}</p>" if self.notes else ""
        title = html.escape(self.title)
        return f"<h2>{title}</h2><table>{''.join(rows)}</table>{notes}"


def number(value: float) -> str:
    """Three significant digits; a dash where there is no number."""
    return "–" if math.isnan(value) else f"{value:.3g}"


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)
    return f"<tr>{cells}</tr>"
