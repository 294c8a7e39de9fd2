"""The database that a study's log lives in.

On SQLite it is always one file: it uses the rollback journal, not the write-ahead log,
so that reading needs no second file (a read-only folder can be read) and a copy or a
truncation of the file cannot silently lose what was committed.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool, StaticPool

from bokern.errors import StorageError

MAGIC = b"SQLite format 3\x00"
LONGEST_SHOWN = 400
"""Characters of a path in a message."""

BUSY_SECONDS = 30.0
"""How long a writer waits for the others."""

NO_LOCKS = (
    "the file system does not lock files, as some network drives do not: keep the "
    "study on a local disk or in a database server"
)

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


def advice(error: Exception) -> str:
    """What went wrong in the database and what to do about it."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    text = " ".join(str(cause).split())
    remedies = {
        "locking protocol": NO_LOCKS,
        "disk is full": "free some space and try again; nothing that is stored is lost",
        "disk I/O error": "check the disk and its free space; what is stored is safe",
        "locked": (
            f"another process held it for {BUSY_SECONDS:g} s; if none does, {NO_LOCKS}"
        ),
        "readonly": "it is read-only: copy the study elsewhere to go on with it",
        "no such table": "a part of it is missing: 'bokern check' shows where",
        "unable to open": "check that its folder exists and may be read and written",
        "malformed": "'bokern check' shows where it is damaged",
        "can't decode": "'bokern check' shows where it is damaged",
        "not a database": "it is damaged, or no study's file",
    }
    for sign, remedy in remedies.items():
        if sign in text:
            return f"{text}: {remedy}"
    return text


def read_place(place: Any) -> str | None:
    """The place of a study as text; None for memory.

    Raises:
        StorageError: If it is no path.
    """
    if place is None or isinstance(place, str):
        text = place
    else:
        text = os.fspath(place) if isinstance(place, os.PathLike) else None
    if isinstance(text, str) and "\0" not in text:
        return text
    if place is None:
        return None
    raise StorageError(
        "the place of a study is the path of a file, or the URL of a database, got "
        f"{place!r:.60}"
    )


def path_of(place: str | None) -> Path | None:
    """The file of an SQLite database; None for other databases and for memory.

    Raises:
        StorageError: If it is a URL that says nothing.
    """
    if place is None:
        return None
    if "://" not in place:
        return Path(place)
    try:
        url = sql.make_url(place)
    except (SQLAlchemyError, ValueError) as error:
        raise StorageError(
            f"{place!r:.200} is no URL of a database, such as "
            f"'postgresql+psycopg://user:password@host/name': {error}"
        ) from error
    if url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise StorageError(
            f"{place!r:.200} names no file: write sqlite:///run.db, or pass None for a "
            "study in memory"
        )
    return Path(url.database)


def shown_path(path: Path) -> str:
    """A path as messages show it."""
    text = repr(str(path))
    return text if len(text) <= LONGEST_SHOWN else f"…{text[-LONGEST_SHOWN:]}"


def _engine_of_file(path: Path, **options: Any) -> sql.Engine:
    # As text, "?" and "%" within a path would mean something.
    url = sql.URL.create("sqlite", database=str(path))
    return sql.create_engine(url, poolclass=NullPool, **options)


def engine_of(place: str | None, path: Path | None) -> sql.Engine:
    """An engine that holds no connection between transactions, but for memory's.

    Args:
        place: Path or URL; None for memory.
        path: The file, if it is SQLite's.

    Raises:
        StorageError: If there is no driver for such a database.
    """
    if path is not None or place is None:
        arguments: dict[str, Any] = {"timeout": BUSY_SECONDS}
        if path is None:
            arguments["check_same_thread"] = False
            engine = sql.create_engine(
                "sqlite://", connect_args=arguments, poolclass=StaticPool
            )
        else:
            engine = _engine_of_file(path, connect_args=arguments)
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


def prepare(path: Path, create: bool) -> None:
    """Checks that a path is an SQLite file with our tables, or makes one."""
    name = shown_path(path)
    try:
        if path.is_dir():
            raise StorageError(f"{name} is a folder: name a file, such as 'run.db'")
        if not _is_there(path):
            if not create:
                raise StorageError(
                    f"there is no study at {name}: pass a space to begin one"
                )
            _make(path)
        with path.open("rb") as stream:
            start = stream.read(len(MAGIC))
    except OSError as error:
        why = error.strerror or error
        raise StorageError(
            f"{name} cannot be opened ({why}): name a file in a folder of yours"
        ) from error
    if start != MAGIC:
        what = "is empty" if not start else "is no study's file"
        raise StorageError(
            f"{name} {what}: name another file; this one was left as it is"
        )
    try:
        with _closing(path) as connection:
            query = "SELECT type, name FROM sqlite_master"
            found = connection.execute(query).fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise StorageError(f"{name} cannot be opened: {advice(error)}") from error
    if ("table", EVENTS.name) not in found:
        raise StorageError(
            f"{name} is an SQLite file of something else: name another file; this one "
            "was left as it is"
        )
    if any(kind in ("trigger", "view") for kind, _ in found):
        raise StorageError(
            f"{name} has triggers or views, which no study has: they would change what "
            "is written; 'bokern check --repair' copies its events into a new file"
        )


def _is_there(path: Path) -> bool:
    """Whether there is a file; errors other than that it is not there go through."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _make(path: Path) -> None:
    """Makes the file with its tables at once, so that none ever sees half of it."""
    if not path.parent.is_dir():
        raise StorageError(
            f"{shown_path(path)} cannot be made: there is no folder "
            f"{shown_path(path.parent)}; make it first"
        )
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        TABLES.create_all(_engine_of_file(draft))
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process made it meanwhile
        except OSError:  # a file system without links
            if not path.exists():
                os.replace(draft, path)
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise StorageError(
            f"{shown_path(path)} cannot be made: {advice(error)}"
        ) from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _closing(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    try:
        yield connection
    finally:
        connection.close()
