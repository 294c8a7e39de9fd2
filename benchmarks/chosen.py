"""Names on the command line."""

from __future__ import annotations

from collections.abc import Iterable


def chosen(text: str | None, allowed: Iterable[str], what: str) -> list[str]:
    """Names joined by commas; all that are allowed without any.

    Raises:
        SystemExit: If one is unknown.
    """
    known = list(allowed)
    names = text.split(",") if text else known
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(
            f"unknown {what} {', '.join(unknown)}: expected {', '.join(known)}"
        )
    return names
