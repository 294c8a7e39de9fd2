"""A shell command as a black box."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import string
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from bokern.errors import InputError

__all__ = ["ShellCommand"]

SHOWN = 300
"""Characters of what a command wrote that a reason repeats."""

NUMBER = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


class ShellCommand:
    """Runs a command for each trial and reads its outcome.

    Parameters stand in braces, ``{lr}``, and are quoted for the shell; the command also
    finds them as JSON in the environment variable ``BOKERN_PARAMETERS``. The last line
    that it prints is the outcome: a number, or a JSON object with a number, or
    ``[number, standard error]``, for each outcome.

    Args:
        template: The command.
        names: Names of the parameters.
        time_limit: Seconds after which it is stopped, with all that it started.
        folder: Where it runs.

    Raises:
        InputError: If the command has a brace that is no parameter.
    """

    def __init__(
        self,
        template: str,
        names: Sequence[str],
        time_limit: float | None,
        folder: str,
    ) -> None:
        self._parts = _parts(template, names)
        self._time_limit = time_limit
        self._folder = folder
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def command(self, parameters: Mapping[str, Any]) -> str:
        """The command for a point."""
        return "".join(
            text + ("" if name is None else shlex.quote(str(parameters[name])))
            for text, name in self._parts
        )

    def __call__(self, parameters: dict[str, Any]) -> Any:
        """The outcome at a point.

        Raises:
            RuntimeError: If the command failed, was stopped, or printed no outcome.
        """
        process = subprocess.Popen(
            self.command(parameters),
            shell=True,
            cwd=self._folder,
            env={**os.environ, "BOKERN_PARAMETERS": json.dumps(parameters)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        with self._lock:
            self._running.add(process)
        try:
            out, err = process.communicate(timeout=self._time_limit)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise CommandError(
                f"stopped at its time limit of {self._time_limit:g} s"
            ) from None
        except BaseException:
            _kill(process)
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode:
            said = " ".join((err.strip() or out.strip()).split())[-SHOWN:]
            raise CommandError(f"exit code {process.returncode}: {said}")
        return _outcome(out)

    def stop(self) -> None:
        """Kills what is running."""
        with self._lock:
            running = list(self._running)
        for process in running:
            _kill(process)


class CommandError(RuntimeError):
    """A command gave no outcome."""


def _parts(template: str, names: Sequence[str]) -> list[tuple[str, str | None]]:
    """Texts, each with the parameter that follows it."""
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise InputError(
            f"the command {template!r:.120} cannot be read: {error}; a brace that is "
            "meant is written twice"
        ) from error
    for _, name, form, conversion in parsed:
        if name is not None and (name not in names or form or conversion):
            raise InputError(
                f"the command has {{{name}}}, which is no parameter: there are "
                f"{', '.join(names)}; a brace that is meant is written twice"
            )
    return [(text, name) for text, name, _, _ in parsed]


def _outcome(out: str) -> Any:
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    if not lines:
        raise CommandError("it printed nothing: print the value as the last line")
    last = lines[-1]
    if NUMBER.match(last):
        return float(last)
    try:
        found = json.loads(last)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, Mapping):
        return {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    if isinstance(found, list):
        return tuple(found)
    raise CommandError(
        f"its last line is no number and no JSON object: {last[-SHOWN:]!r}"
    )


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends a command and all that it started."""
    try:
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass  # it has ended meanwhile
    process.wait()
