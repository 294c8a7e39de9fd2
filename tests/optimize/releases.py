"""Writes the files of a release that later ones must read.

Run once for each release, from the root of the repository, and commit the folder::

    python -m tests.optimize.releases

It writes ``tests/optimize/files/<version>/``: a study, its exports and snapshot, a
comparison, and the journal of a search, with what they say in ``expected.json``. A
folder that exists is left as it is: files of a release never change.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

import bokern
from bokern import Study, choice
from bokern.cli import main
from bokern.selection import Comparison, search

FILES = Path(__file__).parent / "files"
SPACE = {
    "x": (0.0, 1.0),
    "rate": (1e-4, 1e-1, "log"),
    "n": (1, 5),
    "k": choice("a", "it's"),
    "layers": [1, 2, 4],
    "größe": (-1.0, 1.0),
    "fixed": 3,
}
STRUCTURES = ["Matern(2.5)", "RBF()"]
TRIALS = 7


def value(parameters: Any) -> float:
    """The black box of the study."""
    return float((parameters["x"] - 0.3) ** 2 + 0.1 * parameters["n"])


def data() -> tuple[pd.DataFrame, pd.Series]:
    """What the comparison and the search are about."""
    x = [0.1 * i for i in range(10)]
    y = [(3 * i % 7) / 7 + 0.3 * i for i in range(10)]
    return pd.DataFrame({"x": x}), pd.Series(y, name="y")


def searched(journal: Path) -> Comparison:
    """The search whose journal is kept."""
    X, y = data()
    return search(
        X, y, ["RBF()", "Linear()"], rounds=0, smc=False, seed=2, journal=journal
    )


def write_study(folder: Path) -> Study:
    """A study with trials of all kinds, one of them pending."""
    study = Study(
        folder / "study.db",
        SPACE,
        {"value": "minimize"},
        constraints=["x + 0.1*n <= 1.2"],
        outcome_constraints=["cost <= 9"],
        structures=STRUCTURES,
        initial=5,
        seed=1,
    )
    for _ in range(TRIALS):
        trial = study.ask()
        found = value(trial.parameters)
        cost = trial.parameters["x"]
        study.tell(trial, {"value": found, "cost": cost}, {"value": 0.01})
    study.fail(study.ask(), "burst")
    rows = [{"parameters": {**study[0].parameters, "x": 0.5}, "reason": "hot"}]
    study.add(rows)
    study.ask(lease=60.0)
    return study


def ranking(comparison: Comparison) -> dict[str, float]:
    """Log evidences by structure, as a comparison ranks them."""
    table = comparison.table
    return dict(zip(table["structure"], table["log_evidence"], strict=True))


def described(study: Study) -> dict[str, Any]:
    """What a study says of itself."""
    board = study.leaderboard
    return {
        "trials": [study[i].to_json() for i in study.trials["trial"]],
        "best": study.best.id,
        "leaderboard": json.loads(board.to_json(orient="records", double_precision=15)),
    }


def write(folder: Path) -> None:
    """All files of this release."""
    folder.mkdir(parents=True)
    study = write_study(folder)
    for name, more in (
        ("study.json", []),
        ("study.csv", []),
        ("ax.json", ["--form", "ax"]),
    ):
        arguments = ["export", str(folder / "study.db"), str(folder / name), *more]
        assert main(arguments) == 0
    X, y = data()
    compared = bokern.compare(["RBF()", "Linear()"], X, y, starts=2, seed=3)
    compared.to_json(folder / "comparison.json")
    expected = {
        "study": described(study),
        "comparison": ranking(compared),
        "search": ranking(searched(folder / "search.jsonl")),
    }
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    (folder / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    place = FILES / bokern.__version__
    if place.exists():
        sys.exit(f"{place} exists: files of a release never change")
    write(place)
