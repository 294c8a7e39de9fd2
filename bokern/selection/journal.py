"""An append-only record of finished work, each line chained to the one before.

A line is a JSON object ``{"hash", "previous", "entry"}``; ``hash`` is SHA-256 over
``previous`` and the text of ``entry``. A line that a kill left unfinished is dropped
when the journal is opened again; any other damage is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bokern.errors import StorageError

if sys.platform != "win32":
    import fcntl

ROOT = "0" * 64
"""What the first line is chained to."""

Entry = dict[str, Any]


class Journal:
    """Entries of a file, by their key; new ones are on disk before `add` returns.

    Args:
        path: The file; it is made if it does not exist.
        header: What the work is about. A file with another header is refused.

    Raises:
        StorageError: If the file cannot be read or written, is in use by another
            search, is damaged, or is about other work.
    """

    def __init__(self, path: str | Path, header: Entry) -> None:
        self.path = Path(path)
        self.entries: dict[str, Entry] = {}
        self._last = ROOT
        try:
            self._file = open(self.path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise StorageError(
                f"cannot open the journal {str(path)!r}: {error}"
            ) from error
        try:
            self._lock()
            self._read(header)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                f"the journal {str(self.path)!r} is in use by another search: wait for "
                "it, or pass another file"
            ) from error

    def _read(self, header: Entry) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole, newline, rest = content.rpartition(b"\n")
        if not newline and not self._line(header).startswith(rest):
            raise StorageError(
                f"{str(self.path)!r} is no journal of a search: pass another file; it "
                "was left as it is"
            )
        for number, line in enumerate(whole.split(b"\n") if newline else (), start=1):
            entry = self._checked(line, number)
            if number == 1:
                self._compare(entry, header)
            else:
                self.entries[entry["key"]] = entry
        length = len(whole) + len(newline)
        if length < len(content):
            self._file.truncate(length)
        if not newline:
            self._append(header)

    def _checked(self, line: bytes, number: int) -> Entry:
        try:
            document = json.loads(line)
            entry = document["entry"]
            chained = (
                document["previous"] == self._last
                and document["hash"] == _digest(self._last, _text(entry))
                and (number == 1 or isinstance(entry["key"], str))
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            chained = False
        if not chained:
            raise StorageError(
                f"line {number} of the journal {str(self.path)!r} is damaged or was "
                f"changed by hand: keep its first {number - 1} lines, which are "
                "intact, or pass another file"
            )
        self._last = document["hash"]
        return entry

    def _compare(self, found: Entry, header: Entry) -> None:
        wanted = json.loads(_text(header))
        different = [k for k in wanted | found if wanted.get(k) != found.get(k)]
        if "bokern" in different:
            raise StorageError(
                f"the journal {str(self.path)!r} is of bokern {found.get('bokern')}, "
                f"this is {wanted.get('bokern')}, whose numbers may differ: pass "
                "another file, or go on with the release that wrote it"
            )
        if different:
            shown = "; ".join(
                f"{k}: {str(found.get(k))[:60]} there, {str(wanted.get(k))[:60]} here"
                for k in different
            )
            raise StorageError(
                f"the journal {str(self.path)!r} is of another search ({shown}): pass "
                "the same data and arguments, or another file"
            )

    def add(self, key: str, entry: Entry) -> Entry:
        """Writes an entry and returns it as a later reader will see it.

        Raises:
            StorageError: If it cannot be written.
        """
        self._append({"key": key, **entry})
        self.entries[key] = json.loads(_text({"key": key, **entry}))
        return self.entries[key]

    def _append(self, entry: Entry) -> None:
        rest = self._line(entry)
        end = self._file.seek(0, os.SEEK_END)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._undo(end)
            raise StorageError(
                f"cannot write to the journal {str(self.path)!r}: {error}; what is in "
                "it is safe, and the search resumes from it"
            ) from error
        self._last = _digest(self._last, _text(entry))

    def _line(self, entry: Entry) -> bytes:
        text = _text(entry)
        digest = _digest(self._last, text)
        line = f'{{"hash":"{digest}","previous":"{self._last}","entry":{text}}}\n'
        return line.encode()

    def _undo(self, end: int) -> None:
        """Takes back a line of which only a part may have reached the disk."""
        try:
            os.ftruncate(self._file.fileno(), end)
        except OSError:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the file free, also where a forked process still holds it."""
        if sys.platform != "win32" and not self._file.closed:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()


def _text(entry: Entry) -> str:
    return json.dumps(entry, separators=(",", ":"), sort_keys=True)


def _digest(previous: str, text: str) -> str:
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
