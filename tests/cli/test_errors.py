from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

from bokern.cli import entry
from bokern.errors import FitError, FitWarning, StorageError


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch):
    """Lets ``bokern structures`` do something else."""

    def use(action) -> None:
        class Command:
            run = staticmethod(action)

        monkeypatch.setattr(entry, "import_module", lambda name: Command)

    return use


def _raise(error: BaseException):
    def run(*_: object) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FitError("no start\nled to a fit"), 1, "no start led to a fit"),
        (StorageError("disk full"), 1, "disk full"),
        (KeyError("x"), 1, "unexpected KeyError: 'x' (run again with --debug"),
    ],
)
def test_a_failure_is_one_line_and_code_1(bokern, raising, error, code, line) -> None:
    raising(_raise(error))
    assert bokern("structures")[0] == code
    _, out, err = bokern("structures")
    assert out == ""
    assert err.startswith(f"bokern: error: {line}")
    assert err.count("\n") == 1


def test_debug_shows_the_traceback(bokern, raising) -> None:
    raising(_raise(FitError("no start led to a fit")))
    code, _, err = bokern("structures", "--debug")
    assert code == 1
    assert "Traceback (most recent call last)" in err
    assert err.endswith("bokern: error: no start led to a fit\n")


def test_interrupt_is_130(bokern, raising) -> None:
    raising(_raise(KeyboardInterrupt()))
    assert bokern("structures") == (130, "", "bokern: interrupted\n")


def test_our_warnings_are_one_line_and_others_silent(bokern, raising) -> None:
    def run(*_: object) -> int:
        warnings.warn("fell back to Matern(2.5)", FitWarning, stacklevel=1)
        warnings.warn("somebody else's", UserWarning, stacklevel=1)
        return 0

    raising(run)
    expected = "bokern: warning: fell back to Matern(2.5)\n"
    assert bokern("structures") == (0, "", expected)


LOOP = """
from bokern.cli.entry import main
from bokern.cli import entry
import sys

class Command:
    @staticmethod
    def run(arguments, out, err):
        for number in range(20000):
            out.line(f"line {number}")
        err.line("finished")
        return 0

entry.import_module = lambda name: Command
sys.exit(main(["structures"]))
"""


def test_a_closed_pipe_neither_stops_the_work_nor_shows_an_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOOP],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == "line 0\n"
        running.stdout.close()
        err = running.stderr.read()
    assert (running.returncode, err) == (0, "finished\n")


def test_a_closed_pipe_under_help() -> None:
    command = f"{sys.executable} -m bokern --help | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("usage: bokern")
    assert done.stderr == ""


def test_an_ascii_terminal_gets_ascii(process) -> None:
    code = (
        "import sys\n"
        "from bokern.cli.output import Output\n"
        "Output(sys.stdout).line('−1.5 ± 0.2 … ℓ')\n"
    )
    done = process("-c", code, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0
    assert done.stdout == "-1.5 +- 0.2 ... \\u2113\n"
