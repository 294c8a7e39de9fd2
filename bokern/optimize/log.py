"""The log of a study: events that are only ever added, in an SQL database.

One transaction an event, numbered without gaps and chained (`bokern.optimize.events`).
On SQLite the file is always one file: it uses the rollback journal, not the write-ahead
log, so that reading needs no second file (a read-only folder can be read) and a copy or
a truncation of the file cannot silently lose what was committed.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import NullPool, StaticPool

from bokern.errors import StorageError
from bokern.optimize.events import ROOT, Body, Damage, Event, damages

MAGIC = b"SQLite format 3\x00"
BUSY_SECONDS = 30.0
"""How long a writer waits for the others."""

ATTEMPTS = 100
"""How often an event is numbered anew because others were faster."""

TABLES = sql.MetaData()

EVENTS = sql.Table(
    "bokern_events",
    TABLES,
    sql.Column("study", sql.String(200), primary_key=True),
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("at", sql.Double, nullable=False),
    sql.Column("kind", sql.String(40), nullable=False),
    sql.Column("body", sql.Text, nullable=False),
    sql.Column("link", sql.String(64), nullable=False),
)

HEADS = sql.Table(
    "bokern_heads",
    TABLES,
    sql.Column("study", sql.String(200), primary_key=True),
    sql.Column("number", sql.Integer, nullable=False),
    sql.Column("link", sql.String(64), nullable=False),
)
"""Number and link of the newest event of each study: a lost end is noticed."""

LEASES = sql.Table(
    "bokern_leases",
    TABLES,
    sql.Column("study", sql.String(200), primary_key=True),
    sql.Column("trial", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("until", sql.Double, nullable=False),
    sql.Column("holder", sql.String(200), nullable=False),
)
"""Who is at work on a trial, and until when, in seconds since 1970.

No part of the truth: renewed in place.
"""

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
        StorageError: If there is nothing, or something else, at that place, or it
            cannot be opened.
    """

    def __init__(
        self, place: str | os.PathLike[str] | None, study: str, create: bool
    ) -> None:
        self.study = study
        self.place = None if place is None else str(place)
        self.path = _path_of(self.place)
        if self.path is not None:
            _prepare(self.path, create)
        self._engine = _engine(self.place, self.path)
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
            return repr(str(self.path))
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
            raise StorageError(f"{self.shown} {what}: {_advice(error)}") from error


def _advice(error: Exception) -> str:
    """What went wrong in the database and what to do about it."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    text = " ".join(str(cause).split())
    remedies = {
        "disk is full": "free some space and try again; nothing that is stored is lost",
        "disk I/O error": "check the disk and its free space; what is stored is safe",
        "locked": (
            f"another process held it for {BUSY_SECONDS:g} s; if none does, the file "
            "system does not lock files, as some network drives do not: keep the study "
            "on a local disk or in a database server"
        ),
        "readonly": "it is read-only: copy the study elsewhere to go on with it",
        "unable to open": "check that its folder exists and may be read and written",
        "malformed": "'bokern check' shows where it is damaged",
        "not a database": "it is damaged, or no study's file",
    }
    for sign, remedy in remedies.items():
        if sign in text:
            return f"{text}: {remedy}"
    return text


def _path_of(place: str | None) -> Path | None:
    """The file of an SQLite database; None for other databases and for memory."""
    if place is None:
        return None
    if "://" not in place:
        return Path(place)
    try:
        url = sql.make_url(place)
        if url.get_backend_name() == "sqlite" and url.database:
            return Path(url.database)
    except SQLAlchemyError as error:
        raise StorageError(
            f"{place!r} is no URL of a database, such as "
            f"'postgresql+psycopg://user:password@host/name': {error}"
        ) from error
    return None


def _engine(place: str | None, path: Path | None) -> sql.Engine:
    if path is not None or place is None:
        pool: dict[str, Any] = {"poolclass": NullPool if path else StaticPool}
        url = f"sqlite:///{path}" if path else "sqlite://"
        arguments: dict[str, Any] = {"timeout": BUSY_SECONDS}
        if path is None:
            arguments["check_same_thread"] = False
        engine = sql.create_engine(url, connect_args=arguments, **pool)
        _hold_from_the_beginning(engine)
        return engine
    assert place is not None
    try:
        return sql.create_engine(place, poolclass=NullPool)
    except (SQLAlchemyError, ImportError) as error:
        raise StorageError(
            f"{place.split('://')[0]!r} databases cannot be opened: {error}; install "
            "the driver, such as psycopg"
        ) from error


def _hold_from_the_beginning(engine: sql.Engine) -> None:
    """Makes transactions that write take SQLite's lock before they read."""

    @sql.event.listens_for(engine, "connect")
    def connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # sqlite3 begins no transaction by itself
        connection.execute("PRAGMA synchronous=FULL")

    @sql.event.listens_for(engine, "begin")
    def begin(connection: sql.Connection) -> None:
        write = connection.get_execution_options().get("bokern_write", True)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _prepare(path: Path, create: bool) -> None:
    """Checks that a path is an SQLite file with our tables, or makes one."""
    name = repr(str(path))
    try:
        if path.is_dir():
            raise StorageError(f"{name} is a folder: name a file, such as 'run.db'")
        if not path.exists():
            if not create:
                raise StorageError(
                    f"there is no study at {name}: pass a space to begin one"
                )
            _make(path)
        with path.open("rb") as stream:
            start = stream.read(len(MAGIC))
    except OSError as error:
        raise StorageError(f"{name} cannot be opened: {error}") from error
    if start != MAGIC:
        what = "is empty" if not start else "is no study's file"
        raise StorageError(
            f"{name} {what}: name another file; this one was left as it is"
        )
    try:
        with _closing(path) as connection:
            found = connection.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.Error as error:
        raise StorageError(f"{name} cannot be opened: {_advice(error)}") from error
    if (EVENTS.name,) not in found:
        raise StorageError(
            f"{name} is an SQLite file of something else: name another file; this one "
            "was left as it is"
        )


def _make(path: Path) -> None:
    """Makes the file with its tables at once, so that none ever sees half of it."""
    if not path.parent.is_dir():
        raise StorageError(
            f"{str(path)!r} cannot be made: there is no folder {str(path.parent)!r}"
        )
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        engine = sql.create_engine(f"sqlite:///{draft}", poolclass=NullPool)
        TABLES.create_all(engine)
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process made it meanwhile
        except OSError:  # a file system without links
            if not path.exists():
                os.replace(draft, path)
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise StorageError(f"{str(path)!r} cannot be made: {_advice(error)}") from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _closing(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    try:
        yield connection
    finally:
        connection.close()
