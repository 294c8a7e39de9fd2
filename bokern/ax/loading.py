"""Opens stored Ax experiments with bokern's classes registered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ax.api.client import Client
from ax.api.configs import StorageConfig
from ax.exceptions.core import ObjectNotFoundError
from ax.storage.sqa_store import db
from sqlalchemy import make_url

from bokern.ax.expressions import check_formulas
from bokern.errors import StorageError

LARGEST = 2**28
"""Bytes of a snapshot."""

SQLITE_MAGIC = b"SQLite format 3\x00"


def load(path: str | Path, name: str | None = None) -> Client:
    """The client of a stored experiment, ready to go on.

    A JSON file may come from anywhere: what Ax would evaluate in it is checked first.
    A database is taken as it is, and must be one that can be trusted.

    Args:
        path: A JSON file written by ``client.save_to_json_file``, an SQLite file, or
            the URL of an SQL database.
        name: Name of the experiment; needed for databases.

    Raises:
        StorageError: If it cannot be found or read, or is a database while Ax has
            another one open: it keeps one a process.
    """
    text = str(path)
    if "://" in text:
        return _from_database(text, name)
    file = Path(path)
    if not file.is_file():
        raise StorageError(
            f"{text!r} is no file: expected an Ax JSON snapshot, an SQLite file or a "
            "URL such as 'sqlite:///run.db'"
        )
    with file.open("rb") as stream:
        start = stream.read(len(SQLITE_MAGIC))
    if start == SQLITE_MAGIC:
        return _from_database(f"sqlite:///{file.resolve()}", name)
    try:
        check_formulas(_document(file))
        return Client.load_from_json_file(text)
    except StorageError:
        raise
    except Exception as error:
        raise StorageError(
            f"{text!r} cannot be read as an Ax JSON snapshot: {error}"
        ) from error


def _document(file: Path) -> Any:
    """The snapshot as JSON."""
    if file.stat().st_size > LARGEST:
        raise StorageError(
            f"{str(file)!r} is larger than {LARGEST >> 20} MiB: no snapshot of Ax's is"
        )
    return json.loads(file.read_text(encoding="utf-8"))


def _from_database(url: str, name: str | None) -> Client:
    if name is None:
        raise StorageError(
            f"{url!r} may hold many experiments: name one, as in load({url!r}, 'run')"
        )
    _check_database(url)
    before = db.SESSION_FACTORY
    try:
        return Client.load_from_database(name, storage_config=StorageConfig(url=url))
    except (ObjectNotFoundError, ValueError) as error:
        db.SESSION_FACTORY = before
        raise StorageError(f"no experiment {name!r} in {url!r}: {error}") from error
    except Exception as error:
        db.SESSION_FACTORY = before
        raise StorageError(f"{url!r} cannot be read: {error}") from error


def _check_database(url: str) -> None:
    """Ax opens the first database that a process asks for, and no other after it."""
    if db.SESSION_FACTORY is None:
        return
    wanted = make_url(url)
    opened = db.get_engine().url
    if opened != wanted:
        raise StorageError(
            f"Ax keeps one database a process, and {opened} is open: load {wanted} in "
            "another process, or store both experiments in one database"
        )
