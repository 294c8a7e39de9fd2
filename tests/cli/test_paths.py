from __future__ import annotations

from pathlib import Path

import pytest

from bokern.cli.paths import new_folder, writable_file
from bokern.errors import InputError


def test_a_new_folder_is_made(tmp_path: Path) -> None:
    assert new_folder(str(tmp_path / "a" / "b")).is_dir()


def test_refuses_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"folder that can be made"):
        new_folder(str(tmp_path / "file"))


def test_a_file_is_not_made_yet(tmp_path: Path) -> None:
    path = writable_file(str(tmp_path / "r.html"))
    assert not path.exists()


def test_refuses_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it is a folder"):
        writable_file(str(tmp_path))
    with pytest.raises(InputError, match=r"there is no folder"):
        writable_file(str(tmp_path / "none" / "r.html"))
