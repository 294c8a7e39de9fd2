"""The table of bad input at the command line, and what only a command line meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.optimize.matrix import ROWS, SHELL, Bench

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    Bench.make(folder)
    return Bench(folder)


@pytest.fixture
def bench(made, tmp_path):
    return made.copy(tmp_path)


TYPED = [row for row in ROWS if row.cli is not None]


@pytest.mark.parametrize("row", TYPED, ids=str)
def test_refused(row, bench, bokern):
    if row.prepare is not None:
        row.prepare(bench)
    arguments = row.cli(bench)
    before = bench.content()
    code, out, err = bokern(*arguments)
    assert (code, out) == (row.code, ""), err
    assert err.startswith("bokern: error: ")
    assert err.count("\n") == 1
    assert "unexpected" not in err
    for words in row.says if row.typed is None else row.typed:
        assert " ".join(words.split()) in err
    assert len(err) < 6000
    assert bench.content() == before


def real(*arguments, stdin="", **more):
    """A process of its own: exit code, stdout and stderr."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **more.pop("env", {})}
    done = subprocess.run(
        [sys.executable, "-m", "bokern", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        **more,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("row", TYPED[:: len(TYPED) // 3], ids=str)
def test_refused_in_a_process_of_its_own(row, bench):
    if row.prepare is not None:
        row.prepare(bench)
    arguments = row.cli(bench)
    before = bench.content()
    code, out, err = real(*arguments)
    assert (code, out) == (row.code, ""), err
    assert err.startswith("bokern: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert bench.content() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("fly", "invalid choice: 'fly'"),
        ("", "required: COMMAND (see 'bokern --help')"),
        ("status", "required: STUDY (see 'bokern status --help')"),
        ("status run.db --colour", "unrecognized arguments: --colour"),
        ("ask run.db --count", "--count: expected one argument"),
        ("export run.db out.xml --form xml", "invalid choice: 'xml'"),
    ],
)
def test_unknown_command(bench, bokern, arguments, words):
    code, out, err = bokern(*arguments.replace("run.db", str(bench.path)).split())
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("bokern: error: ")
    assert err.count("\n") == 1


STDIN = "/dev/stdin"


@pytest.mark.skipif(not os.path.exists(STDIN), reason="needs /dev/stdin")
@pytest.mark.parametrize(
    ("command", "text", "words"),
    [
        ("new", '{"space": {"x": ', "no YAML that can be read"),
        ("new", "", "says nothing of a study"),
        ("import", '{"trials": [', "lacks the columns"),
    ],
)
def test_bad_json_on_stdin(bench, command, text, words):
    before = bench.content()
    arguments = [STDIN] if command == "new" else [bench.path, STDIN]
    code, out, err = real(command, *arguments, stdin=text, cwd=bench.folder)
    assert (code, out) == (2, ""), err
    assert words in err
    assert "Traceback" not in err
    assert bench.content() == before


def test_closed_pipe(bench):
    """What was asked for is stored, though nobody reads it."""
    command = f"{sys.executable} -m bokern ask {bench.path} --count 3 | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert len(bench.study) >= 6


def test_no_terminal(bench):
    """No progress line, no question, no colour."""
    config = bench.write(
        "new.yaml", {"space": {"x": (0.0, 1.0)}, "budget": 2, "command": "echo 1"}
    )
    code, out, err = real("optimize", config)
    assert (code, err) == (0, "")
    assert out.startswith("best value 1 at x = ")
    assert "\x1b" not in out


def test_no_color(bench):
    """There is no colour, even where it is asked for."""
    for arguments, environment in (
        (("status", bench.path), {"NO_COLOR": "1", "FORCE_COLOR": "1"}),
        (("best", bench.folder / "failed.db"), {"FORCE_COLOR": "1"}),
    ):
        _, out, err = real(*arguments, env=environment)
        assert "\x1b" not in out + err
        assert out + err


def test_ascii_locale(bench, bokern):
    """Names that the locale has no letters for, in and out."""
    config = bench.write("new.yaml", {"space": {"größe": (0.0, 1.0), "γ": [1, 2]}})
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert bokern("new", config)[0] == 0
    place = bench.folder / "new.db"
    asked = json.loads(bokern("ask", place)[1])
    assert set(asked["parameters"]) == {"größe", "γ"}
    code, out, err = real("status", place, env=environment)
    assert (code, err) == (0, "")
    assert "gr\\xf6\\xdfe = " in out
    code, out, err = real("tell", place, '{"größe": 9, "γ": 1}', 1, env=environment)
    assert (code, out) == (2, "")
    assert err.isascii()
    assert err.startswith(
        "bokern: error: parameter 'gr\\xf6\\xdfe' lies in [0, 1], got 9"
    )


def test_each_item_of_the_shell_is_tried():
    tried = {name.removeprefix("test_") for name in globals()}
    names = [item.lower().replace(" ", "_") for item in SHELL]
    assert [name for name in names if name not in tried] == []
