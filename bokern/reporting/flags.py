"""The flags that occur on a page, with their meaning."""

from __future__ import annotations

from collections.abc import Iterable

from bokern.evidence import FLAGS


def meanings(seen: Iterable[str]) -> list[tuple[str, str]]:
    """The meaning of each flag that occurs, in a fixed order.

    Args:
        seen: Flags as the table shows them: names joined by spaces.

    Returns:
        Pairs of flag and meaning; flags unknown here come last.
    """
    present = {flag for text in seen for flag in str(text).split()}
    known = [(flag, FLAGS[flag]) for flag in FLAGS if flag in present]
    unknown = sorted(present - FLAGS.keys())
    return known + [(flag, "see the documentation") for flag in unknown]
