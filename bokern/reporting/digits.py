"""Numbers as text: the same digits everywhere, and a minus that lines up."""

from __future__ import annotations

import math


def nats(value: float | None, digits: int = 1) -> str:
    """A log evidence or a difference of two; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def general(value: object, digits: int = 4) -> str:
    """Any value: numbers to a few significant digits, the rest as it is."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    return f"{value:.{digits}g}".replace("-", "−")


def percent(value: float) -> str:
    """A probability in per cent, never rounded to a certainty that it is not."""
    if not math.isfinite(value):
        return "–"
    if 0 < value < 0.001:
        return "< 0.1 %"
    if 0.999 < value < 1:
        return "> 99.9 %"
    return f"{100 * value:.1f} %"
