"""Where data sets that do not ship with the package are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

VARIABLE = "BOKERN_DATA"
DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder() -> Path:
    """What ``BOKERN_DATA`` names, or ``shared/data`` beside the repository."""
    return Path(os.environ.get(VARIABLE, DEFAULT))


def missing(names: list[str]) -> str | None:
    """Why a benchmark cannot run, if any of its files is not there."""
    absent = [name for name in names if not (data_folder() / name).exists()]
    if not absent:
        return None
    return (
        f"{', '.join(absent)} not found in {data_folder()}: set {VARIABLE} to the "
        "folder that holds them"
    )


def load_arrays(name: str) -> dict[str, np.ndarray]:
    """The arrays of a file of the data folder.

    Args:
        name: Path in the folder, an ``.npz``.
    """
    with np.load(data_folder() / name, allow_pickle=False) as file:
        return dict(file)
