"""What is intact of a damaged log, written into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bokern.errors import BokernError, StorageError
from bokern.optimize.database import EVENTS, HEADS
from bokern.optimize.events import ROOT, Body, Damage, Event, damages
from bokern.optimize.log import EventLog
from bokern.optimize.state import State

MOST_LOST = 1_000_000
"""Events after the last that can be read, at most; a larger number is itself damage."""


@dataclass(frozen=True)
class Repair:
    """What became of the events of a damaged log.

    Args:
        kept: How many were written into the copy.
        lost: Numbers of those that were not, because they are missing, were changed, or
            build upon one that is lost.
        unproven: Numbers of those that were kept although the event before, to which
            they are chained, is lost.
    """

    kept: int
    lost: tuple[int, ...]
    unproven: tuple[int, ...]


def repair(place: str | Path, copy: str | Path, study: str = "study") -> Repair:
    """Writes all that is intact of a study into a new file; the old one stays.

    Args:
        place: The damaged SQLite file.
        copy: A file that does not exist yet.
        study: Name of the study.

    Raises:
        StorageError: If nothing can be read, not even what the study is about, or the
            copy cannot be written.
    """
    if Path(copy).exists():
        raise StorageError(f"{str(copy)!r} exists: name a new file for the copy")
    found = _readable(Path(place), study)
    state = State()
    events: list[tuple[float, str, Body]] = []
    unproven = []
    link: str | None = ROOT
    newest = _head(Path(place), study)
    last = max(found)
    if newest is not None and last < newest[0] < last + len(found) + MOST_LOST:
        last = newest[0]
    lost = []
    for number in range(1, last + 1):
        event = found.get(number)
        proven = event is not None and link is not None and event.follows(link)
        link = None if event is None else event.link
        before = number == 1 or number - 1 in found
        if event is None or not (proven or not before):
            lost.append(number)
            continue
        try:
            state.apply(event)
        except BokernError:
            lost.append(number)
            continue
        if not proven:
            unproven.append(number)
        events.append((event.at, event.kind, event.details()))
    if not state.exists:
        raise StorageError(
            f"{str(place)!r}: the first event, which says what study {study!r} is "
            "about, cannot be read; begin a new study and add what you know of the "
            "trials"
        )
    at = events[-1][0]
    events.append((at, "repaired", {"lost": lost, "unproven": unproven}))
    EventLog(copy, study, create=True).write_copy(events)
    return Repair(len(events) - 1, tuple(lost), tuple(unproven))


def unreadable(place: str | Path, study: str = "study") -> list[Damage]:
    """Which events are damaged, in a file that SQLite cannot read to its end.

    Args:
        place: The SQLite file.
        study: Name of the study.

    Returns:
        Where those that can be read are not as they were written; none if nothing can
        be read at all.
    """
    head = _head(Path(place), study)
    try:
        found = _readable(Path(place), study)
    except StorageError:
        return [] if head is None else damages([], head)
    events = [found[number] for number in sorted(found)]
    newest = events[-1]
    return damages(events, head or (newest.number, newest.link))


def _head(path: Path, study: str) -> tuple[int, str] | None:
    """The note of the newest event, if it can be read."""
    query = f"SELECT number, link FROM {HEADS.name} NOT INDEXED WHERE study = ?"
    with _opened(path) as connection:
        for row in _rows(connection, query, study):
            if isinstance(row[0], int) and isinstance(row[1], str):
                return row
    return None


def _readable(path: Path, study: str) -> dict[int, Event]:
    """Events that can be read, by number, though pages between them may be broken."""
    if not path.is_file():
        raise StorageError(f"there is no study at {str(path)!r}")
    columns = "rowid, study, number, at, kind, body, link"
    query = f"SELECT {columns} FROM {EVENTS.name} NOT INDEXED"
    found: dict[int, Event] = {}
    seen: dict[int, None] = {}

    def take(rows: Iterator[tuple[Any, ...]]) -> None:
        for row, name, *fields in rows:
            seen[row] = None
            kinds = zip(fields, (int, float, str, str, str), strict=True)
            if name == study and all(isinstance(v, kind) for v, kind in kinds):
                found.setdefault(fields[0], Event(*fields))

    with _opened(path) as connection:
        # As a study reads them, then without the index, which may be broken.
        sorted_by = "WHERE study = ? ORDER BY number"
        take(
            _rows(connection, f"SELECT {columns} FROM {EVENTS.name} {sorted_by}", study)
        )
        for order in ("ASC", "DESC"):
            take(_rows(connection, f"{query} ORDER BY rowid {order}"))
        # Those between two broken pages.
        for row in range(1, max(seen, default=0)):
            if row not in seen:
                take(_rows(connection, f"{query} WHERE rowid = ?", row))
    if not found:
        raise StorageError(
            f"{str(path)!r}: no event of a study {study!r} can be read from it"
        )
    return found


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, to be read although it may be shorter than it says."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA writable_schema = 1")
        yield connection
    finally:
        connection.close()


def _rows(
    connection: sqlite3.Connection, query: str, *arguments: Any
) -> Iterator[tuple[Any, ...]]:
    """Rows until the first that cannot be read."""
    try:
        yield from connection.execute(query, arguments)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return
