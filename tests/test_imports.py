"""Imports go one way, and heavy libraries are loaded only where they are used."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "bokern"
HEAVY = ("ax", "pandas", "plotly", "matplotlib")


def loaded_by(statement, names):
    """Which of some modules a statement loads in a fresh interpreter."""
    code = (
        f"import json, sys\n{statement}\n"
        f"print(json.dumps([n for n in {list(names)!r} if n in sys.modules]))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import bokern", (*HEAVY, "torch")),
        ("import bokern.errors, bokern.seeding, bokern.references", HEAVY),
        ("import bokern.structures", (*HEAVY, "botorch")),
        ("import bokern.models", HEAVY),
        ("import bokern.cli", (*HEAVY, "torch")),
    ],
)
def test_what_is_not_loaded(statement, forbidden):
    assert loaded_by(statement, forbidden) == []


def test_help_loads_no_torch():
    statement = (
        "from bokern.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    )
    assert loaded_by(statement, (*HEAVY, "torch")) == []


def test_loading_is_seen():
    assert loaded_by("import pandas", HEAVY) == ["pandas"]


def layers():
    """Names of each layer, the highest first, as `pyproject.toml` lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c["type"] == "layers")
    return [
        (" : " in line, [n.strip(" ()") for n in line.replace(":", "|").split("|")])
        for line in contract["layers"]
    ]


def room(module):
    """The part of `bokern` that a dotted name lies in."""
    parts = module.split(".")
    return parts[1] if parts[0] == "bokern" and len(parts) > 1 else None


def imports(path):
    """Names of modules that a file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms():
    """Files by the part of `bokern` they belong to; `__init__` is the door to all."""
    for path in sorted(PACKAGE.rglob("*.py")):
        first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if first != "__init__":
            yield path, first


def test_every_room_has_a_layer():
    listed = {name for _, names in layers() for name in names}
    assert {first for _, first in rooms()} <= listed


def test_imports_go_down():
    depth, friends = {}, {}
    for level, (together, names) in enumerate(layers()):
        for name in names:
            depth[name], friends[name] = level, together
    wrong = set()
    for path, here in rooms():
        for there in {room(name) for name in imports(path)} & depth.keys():
            level = depth[there] - depth[here]
            allowed = there == here or level > 0 or (level == 0 and friends[here])
            if not allowed:
                wrong.add(f"{path.relative_to(ROOT)} imports {there}")
    assert not wrong


def test_import_linter_agrees():
    if importlib.util.find_spec("importlinter") is None:
        pytest.skip("import-linter is in the dev extra")
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as c; c()",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("module", ["bokern.ax", "bokern.optimize"])
def test_importing_says_nothing(module):
    run = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout + run.stderr == ""
