"""Kinds of values that an option takes; each reads its text or says what it expects."""

from __future__ import annotations

import argparse
import math

__all__ = ["from_one", "from_zero", "interval", "positive_seconds", "trial"]


def from_one(text: str) -> int:
    """A whole number of 1 or more."""
    return _whole(text, 1)


def from_zero(text: str) -> int:
    """A whole number of 0 or more."""
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least {least}, got '{text}'"
        )
    return value


def positive_seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(
            f"expected a number of seconds above 0, got '{text}'"
        )
    return value


def interval(text: str) -> tuple[str, tuple[float, float]]:
    """``COL=LO:HI`` as the column and its range."""
    column, _, ends = text.rpartition("=")
    low, _, high = ends.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        found = math.nan, math.nan
    if not column or not all(map(math.isfinite, found)) or found[0] >= found[1]:
        raise argparse.ArgumentTypeError(
            f"expected COLUMN=LOW:HIGH with LOW below HIGH, as in x1=0:1, got '{text}'"
        )
    return column, found


def trial(text: str) -> int | str:
    """The number of a trial, or the text of its parameters."""
    if text.lstrip().startswith("{"):
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected the number of a trial, or parameters as JSON, got '{text:.60}'"
        ) from None
