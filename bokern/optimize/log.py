"""The log of a study: events that are only ever added, in an SQL database.

One transaction an event, numbered without gaps and chained (`bokern.optimize.events`).
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from bokern.errors import StorageError
from bokern.optimize.database import (
    EVENTS,
    HEADS,
    LEASES,
    TABLES,
    advice,
    engine_of,
    path_of,
    prepare,
    read_place,
    shown_path,
)
from bokern.optimize.events import ROOT, Body, Damage, Event, damages
from bokern.optimize.names import read_name

ATTEMPTS = 100
"""How often an event is numbered anew because others were faster."""

Decide = Callable[[int], "tuple[str, Body] | None"]


@dataclass(frozen=True)
class Lease:
    """Somebody is at work on a trial.

    Args:
        trial: Its number.
        until: Until when, in seconds since 1970.
        holder: Who: host and process.
    """

    trial: int
    until: float
    holder: str


class EventLog:
    """Events of one study.

    A handle holds no connection between calls, so it can be forked and pickled.

    Args:
        place: Path of an SQLite file, or the URL of an SQL database; None keeps all in
            memory, for this process alone.
        study: Name of the study within it.
        create: Whether to make the file or the tables where there are none.

    Raises:
        SpaceError: If the name is no word.
        StorageError: If there is nothing, or something else, at that place, or it
            cannot be opened.
    """

    def __init__(
        self, place: str | os.PathLike[str] | None, study: str, create: bool
    ) -> None:
        self.study = read_name(study, "a study")
        self.place = read_place(place)
        self.path = path_of(self.place)
        if self.path is not None:
            prepare(self.path, create)
        self._engine = engine_of(self.place, self.path)
        if self.path is None:
            self._make_tables(create)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.place is None:
            raise TypeError("a study in memory lives in one process: give it a file")
        return EventLog, (self.place, self.study, False)

    @property
    def shown(self) -> str:
        """The place as messages show it, without a password."""
        if self.place is None:
            return "memory"
        if self.path is not None:
            return shown_path(self.path)
        return repr(sql.make_url(self.place).render_as_string(hide_password=True))

    # -- reading -------------------------------------------------------------------

    def read(self, after: int = 0, link: str = ROOT) -> list[Event]:
        """Events after a number, checked against the chain.

        Args:
            after: Number of the newest event that is known.
            link: Its link.

        Raises:
            StorageError: If an event was changed or is missing.
        """
        with self._transaction(write=False) as connection:
            events = list(self._rows(connection, after))
            head = self._head(connection)
        number = after
        for event in events:
            if event.number != number + 1 or not event.follows(link):
                self._refuse(Damage(number + 1, "changed or missing"))
            number, link = event.number, event.link
        if (number or head is not None) and head != (number, link):
            self._refuse(Damage(number + 1, "not as noted when it was written"))
        return events

    def damages(self) -> list[Damage]:
        """All places where the log is not as it was written.

        Raises:
            StorageError: If it cannot be read at all.
        """
        with self._transaction(write=False) as connection:
            events = list(self._rows(connection, 0))
            head = self._head(connection)
        return damages(events, head) if events or head is not None else []

    def _rows(self, connection: sql.Connection, after: int) -> Iterator[Event]:
        wanted = (EVENTS.c.study == self.study) & (EVENTS.c.number > after)
        query = sql.select(*list(EVENTS.c)[1:]).where(wanted)
        for row in connection.execute(query.order_by(EVENTS.c.number)):
            yield Event(*row)

    def _head(self, connection: sql.Connection) -> tuple[int, str] | None:
        query = sql.select(HEADS.c.number, HEADS.c.link)
        row = connection.execute(query.where(HEADS.c.study == self.study)).first()
        return None if row is None else (row[0], row[1])

    def _refuse(self, damage: Damage) -> None:
        raise StorageError(
            f"event {damage.number} of study {self.study!r} in {self.shown} is damaged "
            f"({damage.what}): 'bokern check' shows where, and its --repair writes a "
            "copy of all that is intact"
        )

    # -- writing -------------------------------------------------------------------

    def append(
        self,
        decide: Decide,
        known: Callable[[], tuple[int, str]],
        lease: Lease | None = None,
    ) -> bool:
        """Adds an event after all others.

        Args:
            decide: Called within the transaction with the number of the newest event;
                the kind and body of the event to add, or None to add nothing, such as
                when others wrote what the caller does not know yet.
            known: Number and link of the newest event that the caller has checked; a
                log whose events up to there changed is refused.
            lease: Stored with it.

        Returns:
            Whether an event was added.

        Raises:
            StorageError: If it cannot be written; nothing that is stored is lost.
        """
        for _ in range(ATTEMPTS):
            try:
                with self._transaction(write=True) as connection:
                    number, link = self._head(connection) or (0, ROOT)
                    if number == known()[0] and link != known()[1]:
                        self._refuse(Damage(number, "changed after it was read"))
                    decided = decide(number)
                    if decided is None:
                        return False
                    kind, body = decided
                    event = Event.after(link, number + 1, time.time(), kind, body)
                    self._insert(connection, event)
                    if lease is not None:
                        self._lease(connection, lease)
                    return True
            except IntegrityError:
                continue  # another writer took the number
        raise StorageError(
            f"{self.shown} is written to by so many others that {ATTEMPTS} attempts "
            "to add an event failed: use fewer writers, or try again"
        )

    def _insert(self, connection: sql.Connection, event: Event) -> None:
        connection.execute(
            EVENTS.insert().values(
                study=self.study,
                number=event.number,
                at=event.at,
                kind=event.kind,
                body=event.body,
                link=event.link,
            )
        )
        head = {"number": event.number, "link": event.link}
        if event.number == 1:
            connection.execute(HEADS.insert().values(study=self.study, **head))
        else:
            mine = HEADS.c.study == self.study
            connection.execute(HEADS.update().where(mine).values(**head))

    def write_copy(self, events: list[tuple[float, str, Body]]) -> None:
        """Writes events anew into an empty log, in one transaction.

        Raises:
            StorageError: If the log has events already, or cannot be written.
        """
        with self._transaction(write=True) as connection:
            if self._head(connection) is not None:
                raise StorageError(f"{self.shown} holds study {self.study!r} already")
            link = ROOT
            for number, (at, kind, body) in enumerate(events, start=1):
                event = Event.after(link, number, at, kind, body)
                self._insert(connection, event)
                link = event.link

    # -- leases --------------------------------------------------------------------

    def leases(self) -> dict[int, Lease]:
        """Who is at work on which trial."""
        query = sql.select(LEASES.c.trial, LEASES.c.until, LEASES.c.holder)
        with self._transaction(write=False) as connection:
            rows = connection.execute(query.where(LEASES.c.study == self.study))
            return {row[0]: Lease(*row) for row in rows}

    def lease(self, leases: Sequence[Lease]) -> None:
        """Sets who is at work on trials, and until when."""
        with self._transaction(write=True) as connection:
            for lease in leases:
                self._lease(connection, lease)

    def _lease(self, connection: sql.Connection, lease: Lease) -> None:
        mine = (LEASES.c.study == self.study) & (LEASES.c.trial == lease.trial)
        connection.execute(LEASES.delete().where(mine))
        connection.execute(LEASES.insert().values(study=self.study, **asdict(lease)))

    # -- the database --------------------------------------------------------------

    def _make_tables(self, create: bool) -> None:
        with self._explained("cannot be opened"), self._engine.connect() as connection:
            there = sql.inspect(connection).has_table(EVENTS.name)
        if there:
            return
        if not create:
            raise StorageError(
                f"{self.shown} holds no study: pass a space to begin one"
            )
        with self._explained("cannot be written to"):
            TABLES.create_all(self._engine)

    @contextmanager
    def _transaction(self, write: bool) -> Iterator[sql.Connection]:
        """A transaction that sees one state of the database throughout.

        One that writes holds SQLite's lock from the beginning. Elsewhere its number is
        taken by whoever is first, and the others try again.
        """
        options: dict[str, Any] = {"bokern_write": write}
        if self._engine.dialect.name != "sqlite" and not write:
            options["isolation_level"] = "REPEATABLE READ"
        engine = self._engine.execution_options(**options)
        what = "cannot be written to" if write else "cannot be read"
        with self._explained(what), engine.begin() as connection:
            yield connection

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
            raise StorageError(f"{self.shown} {what}: {advice(error)}") from error
