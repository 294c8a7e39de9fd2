"""A study as a YAML file describes it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import yaml

from bokern.cli.shell import ShellCommand
from bokern.errors import InputError
from bokern.optimize import choice
from bokern.optimize.space import read_space

__all__ = ["Configuration", "read_configuration"]

LARGEST = 2**20
"""Bytes of a configuration."""

STUDY = (
    "direction",
    "constraints",
    "outcome_constraints",
    "structures",
    "acquisition",
    "acquisition_options",
    "selection",
    "initial",
    "seed",
    "name",
)
"""Keys that are handed to `bokern.Study`."""

KEYS = ("study", "space", "budget", "command", "function", "time_limit", *STUDY)

EXAMPLE = """\
space:
  x: {low: 0.0, high: 1.0}
  lr: {low: 1e-5, high: 0.1, log: true}
  layers: {values: [1, 2, 4]}
  kind: {choice: [a, b]}
budget: 50
command: python train.py --x {x} --lr {lr} --layers {layers} --kind {kind}"""


@dataclass(frozen=True)
class Configuration:
    """What a file says, checked as far as the study does not check it.

    Args:
        place: Where the study is kept.
        space: As `bokern.Study` takes it.
        options: Further arguments of `bokern.Study`.
        budget: Trials in all, if it says so.
        command: Evaluates a trial, if it is a shell command.
        function: Where the function is that does, if it is one.
        time_limit: Seconds for an evaluation.
        folder: Of the file, which paths within it are relative to.
    """

    place: str
    space: dict[str, Any]
    options: dict[str, Any]
    budget: int | None
    command: str | None
    function: str | None
    time_limit: float | None
    folder: Path

    def black_box(self) -> Callable[..., Any]:
        """What evaluates a trial.

        Raises:
            InputError: If there is nothing, or the function cannot be found.
        """
        if self.command is not None:
            return ShellCommand(
                self.command, tuple(self.space), self.time_limit, str(self.folder)
            )
        if self.function is None:
            raise InputError(
                "the configuration says neither 'command: …' nor 'function: …', so "
                "trials cannot be evaluated: add one, or use 'bokern ask' and 'tell'"
            )
        return _function(self.function, self.folder)


def read_configuration(path: str) -> Configuration:
    """Reads a YAML file.

    Raises:
        InputError: What is wrong with it, and how to mend it.
    """
    found = _document(path)
    unknown = sorted(str(key) for key in found if key not in KEYS)
    if unknown:
        raise InputError(
            f"'{path}' has unknown keys {unknown}: it may have {', '.join(KEYS)}"
        )
    space = found.get("space")
    if not isinstance(space, Mapping):
        raise InputError(f"'{path}' needs a space, such as\n{EXAMPLE}")
    file = Path(path)
    place = found.get("study", str(file.with_suffix(".db").name))
    if not isinstance(place, str):
        raise InputError(f"'study' in '{path}' is a file or a URL, got {place!r:.60}")
    if "://" not in place:
        place = str(file.parent / Path(place).expanduser())
    for key in ("command", "function"):
        if not isinstance(found.get(key, ""), str):
            raise InputError(f"'{key}' in '{path}' is a text, got {found[key]!r:.60}")
    if "command" in found and "function" in found:
        raise InputError(f"'{path}' has a command and a function: leave one out")
    for key, least in (("budget", 1), ("time_limit", 0)):
        value = found.get(key, 1)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or value < least or (key == "budget" and value != int(value)):
            raise InputError(
                f"'{key}' in '{path}' is a number of {least} or more, got {value!r:.60}"
            )
    declared = {name: _parameter(name, each) for name, each in space.items()}
    read_space(declared)
    return Configuration(
        place=place,
        space=declared,
        options={key: found[key] for key in STUDY if found.get(key) is not None},
        budget=found.get("budget"),
        command=found.get("command"),
        function=found.get("function"),
        time_limit=found.get("time_limit"),
        folder=file.absolute().parent,
    )


class _Loader(yaml.SafeLoader):
    """Plain values only: no tags of Python's, no references that grow."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("references (*name) are not read: write it out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        repeated = sorted({str(k) for k in keys if keys.count(k) > 1})
        if repeated:
            raise yaml.YAMLError(f"the keys {repeated} stand twice: rename them")
        return super().construct_mapping(node, deep)


def _document(path: str) -> Mapping[str, Any]:
    try:
        with open(path, "rb") as file:
            raw = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise InputError(
            f"expected a YAML file that can be read, got '{path}' "
            f"({getattr(error, 'strerror', None) or error})"
        ) from error
    if len(raw) > LARGEST:
        raise InputError(f"'{path}' is larger than {LARGEST >> 20} MiB")
    try:
        found = yaml.load(raw.decode("utf-8-sig"), _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"'{path}' is no YAML that can be read: {error}") from error
    if not isinstance(found, Mapping):
        raise InputError(
            f"'{path}' says nothing of a study; write for example\n{EXAMPLE}"
        )
    return found


def _parameter(name: Any, given: Any) -> Any:
    """A parameter as `bokern.Study` takes it."""
    match given:
        case {"low": low, "high": high, **rest} if set(rest) <= {"log"}:
            ends = (_number(low), _number(high))
            return (*ends, "log") if rest.get("log") else ends
        case {"values": list(values), **rest} if not rest:
            return values
        case {"choice": list(values), **rest} if not rest:
            return choice(*values)
        case str() | bool() | int() | float():
            return given
    raise InputError(
        f"parameter {name!r}: cannot read {given!r:.80}; write {{low: 0.0, high: 1.0}} "
        "for a range, with 'log: true' for a log scale, {values: [1, 2]} for ordered "
        "values, {choice: [a, b]} for unordered ones, or one value that is fixed"
    )


def _number(value: Any) -> Any:
    """YAML takes 1e-5, without a point, for a text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _function(text: str, folder: Path) -> Callable[..., Any]:
    """The function that ``file.py:name`` or ``package.module:name`` points to."""
    where, _, name = text.rpartition(":")
    if not where or not name.isidentifier():
        raise InputError(
            f"'function' is written as file.py:name or package.module:name, got "
            f"{text!r:.80}"
        )
    try:
        module = _module(where, folder)
        found = getattr(module, name)
    except (ImportError, AttributeError, OSError, SyntaxError) as error:
        raise InputError(f"the function {text!r} cannot be loaded: {error}") from error
    if not callable(found):
        raise InputError(f"{text!r} is no function")
    return found


def _module(where: str, folder: Path) -> Any:
    if not where.endswith(".py"):
        sys.path.insert(0, str(folder))
        return importlib.import_module(where)
    path = folder / where
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{str(path)!r} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    # Other processes cannot import it by its name.
    cloudpickle.register_pickle_by_value(module)
    return module
