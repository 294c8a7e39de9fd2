"""What parameters, outcomes and studies may be called."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any

from bokern.errors import SpaceError

LONGEST_NAME = 200

CONTROLS = ("Cc", "Cs", "Zl", "Zp")
"""Categories of Unicode that no name has: controls, half characters, line breaks."""


def read_name(name: Any, what: str) -> str:
    """A name, as it was given.

    Args:
        name: The name.
        what: Of what it is, such as ``"a parameter"``.

    Raises:
        SpaceError: If it is no word of 200 characters at most on one line.
    """
    if not isinstance(name, str) or not name.strip():
        raise SpaceError(
            f"{what}'s name is a word of {LONGEST_NAME} characters at most, got "
            f"{name!r:.80}"
        )
    if len(name) > LONGEST_NAME:
        raise SpaceError(
            f"{what}'s name has {LONGEST_NAME} characters at most, {name[:20]!r}… has "
            f"{len(name)}: shorten it"
        )
    if not is_clean(name):
        raise SpaceError(
            f"{what}'s name stands on one line, in characters of Unicode other than "
            f"controls, got {name!r:.80}: rename it"
        )
    return name


def is_clean(text: str) -> bool:
    """Whether a text has no control characters, line breaks or half characters."""
    return all(unicodedata.category(each) not in CONTROLS for each in text)


def check_distinct(names: Iterable[str]) -> None:
    """Refuses names that look the same.

    Raises:
        SpaceError: If two differ in blanks around them, or in how Unicode writes them.
    """
    seen: dict[str, str] = {}
    for name in names:
        plain = unicodedata.normalize("NFKC", name).strip()
        if plain in seen:
            raise SpaceError(
                f"the names {seen[plain]!r} and {name!r} differ in blanks or in how "
                "the same characters are written: rename one"
            )
        seen[plain] = name
