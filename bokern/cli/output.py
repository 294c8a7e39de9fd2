"""Text to a stream that may be closed early or know only ASCII."""

from __future__ import annotations

import os
from typing import TextIO

__all__ = ["Output"]

_PLAIN = str.maketrans(
    {
        "±": "+-",
        "−": "-",
        "–": "-",
        "—": "-",
        "…": "...",
        "×": "x",
        "·": "*",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "²": "^2",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "█": "#",
        "│": "|",
        "─": "-",
    }
)


class Output:
    """Writes lines; after the reader has gone, it writes nothing and goes on.

    Work that takes minutes is not thrown away because its text is piped into
    ``head``.

    Args:
        stream: Where to write.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._open = True

    def line(self, text: str = "") -> None:
        """Write a line, in what characters the stream has."""
        if not self._open:
            return
        encoding = self._stream.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            plain = text.translate(_PLAIN)
            text = plain.encode(encoding, "backslashreplace").decode(encoding)
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except BrokenPipeError:
            self._silence()

    def close(self) -> None:
        """Flush what is left, so that the interpreter does not trip over it."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._silence()

    def _silence(self) -> None:
        self._open = False
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
