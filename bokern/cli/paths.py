"""Places to write to, checked before the work rather than after it."""

from __future__ import annotations

import os
from pathlib import Path

from bokern.errors import InputError

__all__ = ["new_folder", "writable_file"]


def writable_file(text: str) -> Path:
    """A file that can be written later.

    Args:
        text: The path as typed.

    Returns:
        The path.

    Raises:
        InputError: If it is a folder, or its folder is not there or read-only.
    """
    path = Path(text).expanduser()
    folder = path.absolute().parent
    if path.is_dir():
        problem = "it is a folder"
    elif not folder.is_dir():
        problem = f"there is no folder '{folder}'"
    elif not os.access(folder, os.W_OK):
        problem = f"'{folder}' cannot be written to"
    else:
        return path
    raise InputError(
        f"expected a file that can be written, got '{text}' ({problem}); choose a file "
        "in an existing folder of yours"
    )


def new_folder(text: str) -> Path:
    """A folder to write into, made if needed.

    Args:
        text: The path as typed.

    Returns:
        The path.

    Raises:
        InputError: If it cannot be made or written to.
    """
    path = Path(text).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"expected a folder that can be made, got '{text}' "
            f"({error.strerror or error}); choose another one"
        ) from error
    writable_file(str(path / "report.html"))
    return path
