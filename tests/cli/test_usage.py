from __future__ import annotations

import re
import shlex
import statistics
import time

import pytest

from bokern.cli.arguments import parse, parser


@pytest.mark.parametrize("command", ["", "demo", "search", "compare", "structures"])
def test_help_shows_examples(bokern, command: str) -> None:
    code, out, err = bokern(*command.split(), "--help")
    assert (code, err) == (0, "")
    assert re.search(r"examples?:\n  bokern ", out)
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 88


def test_examples_parse() -> None:
    top = parser()
    texts = [top.epilog]
    for command in ("demo", "search", "compare", "structures"):
        texts.append(top._subparsers._group_actions[0].choices[command].epilog)
    lines = [
        line.strip().split(" > ")[0]
        for text in texts
        for line in text.splitlines()
        if line.startswith("  bokern ")
    ]
    assert len(lines) >= 15
    for line in lines:
        parse(shlex.split(line)[1:])


def test_version(bokern) -> None:
    code, out, _ = bokern("--version")
    assert code == 0
    assert out.startswith("bokern ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("compare", "required: FILE, --target (see 'bokern compare --help')"),
        ("demo --trials -3", "expected a whole number of at least 1, got '-3'"),
        ("demo --trials 2.5", "expected a whole number of at least 1, got '2.5'"),
        ("demo --seed x", "expected a whole number of at least 0, got 'x'"),
        ("demo --seed -1", "expected a whole number of at least 0, got '-1'"),
        ("compare f --target y --bounds x=1:0", "LOW below HIGH"),
        ("compare f --target y --bounds x=1:nan", "got 'x=1:nan'"),
        ("compare f --target y --bounds x", "expected COLUMN=LOW:HIGH"),
        ("compare f --target y --bounds =0:1", "expected COLUMN=LOW:HIGH"),
        ("search f", "required: --target (see 'bokern search --help')"),
        ("search f --target y --rounds -1", "whole number of at least 0, got '-1'"),
        ("search f --target y --workers 0", "whole number of at least 1, got '0'"),
        ("search f --target y --time-limit 0", "seconds above 0, got '0'"),
        ("search f --target y --time-limit nan", "seconds above 0, got 'nan'"),
        ("compare f --targ y", "required: --target"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(bokern, arguments: str, message: str) -> None:
    code, out, err = bokern(*arguments.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("bokern: error: ")
    assert err.count("\n") == 1


def test_a_column_may_hold_an_equals_sign() -> None:
    arguments = parse(["compare", "f", "--target", "y", "--bounds", "a=b=-1:2"])
    assert arguments.bounds == [("a=b", (-1.0, 2.0))]


def test_debug_is_known_before_and_after_the_command() -> None:
    assert parse(["--debug", "structures"]).debug
    assert parse(["structures", "--debug"]).debug
    assert not parse(["structures"]).debug


def test_help_is_quick_and_loads_nothing_heavy(process) -> None:
    code = (
        "import sys\n"
        "from bokern.cli import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = {'torch', 'gpytorch', 'botorch', 'ax', 'pandas', 'numpy', 'plotly'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = process("-c", code)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        assert process("-m", "bokern", "--help").returncode == 0
        seconds.append(time.perf_counter() - started)
    assert statistics.median(seconds) <= 0.3
