"""Events of a study: what happened, each chained to the one before.

An event's link is SHA-256 over the link before it and all that the event says, so that
no byte of a log can change unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bokern.errors import StorageError

ROOT = "0" * 64
"""What the first event is chained to."""

LARGEST_BODY = 2**24
"""Characters of one event at most; a trial's record has some thousands."""

Body = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Args:
        number: 1 for the first of a study.
        at: When, in seconds since 1970 by the clock of whoever wrote it.
        kind: What happened, such as ``"asked"``.
        body: The details, a JSON object as text with sorted keys.
        link: Of the chain, 64 hexadecimal digits.
    """

    number: int
    at: float
    kind: str
    body: str
    link: str

    @staticmethod
    def after(previous: str, number: int, at: float, kind: str, body: Body) -> Event:
        """An event chained to the one before.

        Args:
            previous: Link of the event before; ``ROOT`` for the first.
            number: Its number.
            at: When, in seconds since 1970.
            kind: What happened.
            body: The details; numbers must be finite.

        Raises:
            StorageError: If they are longer than any that would be read again.
        """
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if len(text) > LARGEST_BODY:
            raise StorageError(
                f"an event of {len(text)} characters cannot be stored, at most "
                f"{LARGEST_BODY}: make its texts shorter"
            )
        return Event(number, at, kind, text, _link(previous, number, at, kind, text))

    def follows(self, previous: str) -> bool:
        """Whether it is as it was written after an event with that link."""
        fields = (self.number, self.at, self.kind, self.body)
        return self.link == _link(previous, *fields)

    def details(self) -> Body:
        """The details as a dictionary.

        Raises:
            StorageError: If they are no JSON object, or longer than any we write.
        """
        try:
            if len(self.body) > LARGEST_BODY:
                raise ValueError("it is too long")
            found = json.loads(self.body, parse_constant=_refuse)
            if not isinstance(found, dict):
                raise ValueError("it is no JSON object")
        except (ValueError, RecursionError) as error:
            raise StorageError(
                f"event {self.number} cannot be read: {error}"
            ) from error
        return found


@dataclass(frozen=True)
class Damage:
    """Where a log is not as it was written.

    Args:
        number: Of the event, or of the first that is missing.
        what: What is wrong with it.
    """

    number: int
    what: str


def damages(events: Iterable[Event], head: tuple[int, str] | None) -> list[Damage]:
    """All places where events are not as they were written; none for a sound log.

    Args:
        events: In the order of their numbers.
        head: Number and link of the newest event, as noted beside the events.
    """
    found = []
    number, link = 0, ROOT
    for event in events:
        if event.number != number + 1:
            found.append(Damage(number + 1, f"missing up to {event.number - 1}"))
        elif not event.follows(link):
            found.append(Damage(event.number, "changed after it was written"))
        number, link = event.number, event.link
    if head is None:
        found.append(Damage(number + 1, "the note of the newest event is missing"))
    elif head[0] > number:
        found.append(Damage(number + 1, f"missing up to {head[0]}"))
    elif head != (number, link):
        found.append(Damage(number, "it is not the newest event that was noted"))
    return found


def _link(previous: str, number: int, at: float, kind: str, body: str) -> str:
    text = f"{previous}\n{number}\n{at!r}\n{kind}\n{body}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _refuse(constant: str) -> float:
    """What JSON has no word for, though Python reads and writes it."""
    raise ValueError(f"{constant} is no number")
