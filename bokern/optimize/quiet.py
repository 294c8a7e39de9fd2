"""Keeps Ax's log lines off the terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

AX = "ax"


def _is_not_from_ax(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] != AX or record.levelno >= logging.ERROR


@contextmanager
def quiet_ax() -> Iterator[None]:
    """Within it Ax logs errors only; everything else logs as before."""
    loggers = [logging.getLogger(AX)]
    handlers = [handler for logger in loggers for handler in logger.handlers]
    for handler in handlers:
        handler.addFilter(_is_not_from_ax)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(_is_not_from_ax)
