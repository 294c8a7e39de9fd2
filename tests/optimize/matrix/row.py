"""What a row of the table of bad input is, and where it is tried."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bokern import Study, choice
from bokern.errors import BokernError
from bokern.optimize import Choice

SPACE = {"x": (0.0, 1.0), "n": (1, 5), "k": choice("a", "b"), "fixed": 3}
POINT = {"x": 0.25, "n": 2, "k": "a"}
TOLD, FAILED, PENDING, EXPIRED = range(4)


class Bench:
    """A folder with studies to try things on.

    ``run.db`` has a trial that was told 0.5, one that failed, one that is pending and
    one whose lease ran out; ``several.db`` two objectives and a constrained outcome;
    ``finite.db`` two points, both told; ``failed.db`` nothing but a failure.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "run.db"
        self._study: Study | None = None

    @staticmethod
    def make(folder: Path) -> None:
        """Writes the studies."""
        options: dict[str, Any] = {"initial": 20, "structures": "Matern(2.5)"}
        study = Study(folder / "run.db", SPACE, **options)
        study.tell(study.ask(), 0.5)
        study.fail(study.ask(), "burst")
        study.ask()
        study.ask(lease=1e-3)
        both = {"loss": "minimize", "gain": "maximize"}
        limit = ["cost <= 1"]
        several = Study(
            folder / "several.db", SPACE, both, outcome_constraints=limit, **options
        )
        several.ask()
        finite = Study(folder / "finite.db", {"m": [1, 2]}, **options)
        for _ in range(2):
            finite.tell(finite.ask(), 1.0)
        failed = Study(folder / "failed.db", {"m": [1, 2]}, **options)
        failed.fail(failed.ask(), "burst")

    @property
    def study(self) -> Study:
        """A handle of ``run.db``."""
        if self._study is None:
            self._study = self.open("run.db")
        return self._study

    def open(self, name: str) -> Study:
        return Study(self.folder / name)

    def write(self, name: str, content: str | bytes | Mapping[str, Any]) -> Path:
        """A file; a mapping is written as YAML."""
        if isinstance(content, Mapping):
            content = yaml.dump(as_yaml(content), Dumper=_Dumper, allow_unicode=True)
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogatepass")
        path = self.folder / name
        path.write_bytes(content)
        return path

    def content(self) -> dict[str, bytes | None]:
        """What lies in the folder, byte for byte."""
        return {
            str(path.relative_to(self.folder)): None
            if path.is_symlink() or not path.is_file()
            else path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
        }

    def copy(self, folder: Path) -> Bench:
        for path in self.folder.iterdir():
            shutil.copy(path, folder / path.name)
        return Bench(folder)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def as_yaml(document: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration whose space is written as `bokern.Study` takes it."""
    space = document.get("space")
    if not isinstance(space, Mapping):
        return dict(document)
    return {**document, "space": {k: _parameter(v) for k, v in space.items()}}


def _parameter(declared: Any) -> Any:
    if isinstance(declared, tuple) and len(declared) in (2, 3):
        log = {"log": True} if declared[2:] == ("log",) else {}
        return {"low": declared[0], "high": declared[1], **log}
    if isinstance(declared, Choice):
        return {"choice": list(declared.values)}
    return {"values": declared} if isinstance(declared, list) else declared


Act = Callable[[Bench], Any]
Arguments = Callable[[Bench], Sequence[Any]]


@dataclass(frozen=True)
class Row:
    """Something that is refused.

    Args:
        item: Of the matrix, in its words.
        name: What is done.
        says: What the message must contain: the parameter, the value, what is allowed,
            what to do.
        api: What is done in Python; None where only a command line can.
        cli: The same as arguments of ``bokern``; None where it cannot be said there.
        typed: What that must say, where it is not the same.
        code: Its exit code.
        error: What is raised.
        prepare: Done before, such as writing the file that is refused.
    """

    item: str
    name: str
    says: tuple[str, ...]
    api: Act | None
    cli: Arguments | None = None
    typed: tuple[str, ...] | None = None
    code: int = 2
    error: type[BokernError] = BokernError
    prepare: Act | None = None

    def __str__(self) -> str:
        return f"{self.item}: {self.name}"


@dataclass(frozen=True)
class Served:
    """Something that looks bad and is served all the same.

    Args:
        item: Of the matrix, in its words.
        name: What is done.
        act: Does it, and asserts what comes of it.
        marks: Of pytest.
    """

    item: str
    name: str
    act: Act = field(repr=False)
    marks: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.item}: {self.name}"


def typed_json(value: Any) -> str:
    return json.dumps(value)
