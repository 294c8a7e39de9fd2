"""A peer in a process of its own, whose points are evaluated in this one."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.optimise.peer_environment import PACKAGES, interpreter, missing_peer
from benchmarks.optimise.peers.protocol import Dimension, Point
from benchmarks.optimise.real_table import RealTable
from benchmarks.optimise.recorder import Recorder
from benchmarks.optimise.target import Parameters, parameters_of
from benchmarks.tasks import Record
from bokern.optimize.space import Parameter, Value

ROOT = Path(__file__).resolve().parents[2]
WORKER = ("-m", "benchmarks.optimise.peers.worker")
PATIENCE = 10.0
"""Seconds that a process has to end once its input is closed."""


def run_peer(
    peer: str, objective: Recorder, initial: list[Parameters], seed: int
) -> Record:
    """Evaluates the shared points, then what the peer asks for.

    Raises:
        RuntimeError: If the peer is not installed, or its process ends.
    """
    python = interpreter(peer)
    if python is None:
        raise RuntimeError(missing_peer(peer))
    parameters = parameters_of(objective.problem)
    values = [objective(point) for point in initial]
    setup = {
        "space": [asdict(_dimension(p)) for p in parameters],
        "initial": [_encoded(parameters, point) for point in initial],
        "values": values,
        "seed": seed,
        "budget": objective.budget,
        "noisy": isinstance(objective.problem, RealTable)
        and objective.problem.is_noisy,
    }
    package = PACKAGES[peer].name
    with Worker([str(python), *WORKER]) as worker:
        worker.send({"peer": peer, "package": package, "setup": setup})
        versions = {package: worker.receive()["version"]}
        while len(objective.values) < objective.budget:
            asked = worker.receive()
            point = _decoded(parameters, asked["point"])
            value = objective.observe(point, asked["cpu_seconds"])
            worker.send({"value": value})
    return {"versions": versions}


class Worker:
    """A process that exchanges JSON lines; it ends with the block that it is used in.

    Args:
        command: What is run, in an empty folder.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._errors = Path(self._folder.name, "errors.txt")
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=self._folder.name,
                # Some peers take things in the order of a set.
                env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            )

    def send(self, document: Any) -> None:
        """Sends a document.

        Raises:
            RuntimeError: If the process has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(document) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(self._last_words()) from None

    def receive(self) -> Any:
        """The next document that comes.

        Raises:
            RuntimeError: If the process ends instead.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(self._last_words())
        return json.loads(line)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(PATIENCE)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def _last_words(self) -> str:
        self._process.wait(PATIENCE)
        said = self._errors.read_text().strip()[-600:]
        return f"the peer's process ended ({self._process.returncode}): {said}"


def _dimension(parameter: Parameter) -> Dimension:
    if parameter.bounds is not None:
        return Dimension(parameter.name, "real", *parameter.bounds)
    kind = "ordered" if parameter.ordered else "unordered"
    return Dimension(parameter.name, kind, count=len(parameter.values))


def _encoded(parameters: Sequence[Parameter], point: Parameters) -> Point:
    def code(parameter: Parameter, value: Value) -> float:
        if parameter.bounds is not None:
            return float(value)
        return parameter.values.index(value)

    return {p.name: code(p, point[p.name]) for p in parameters}


def _decoded(parameters: Sequence[Parameter], point: Point) -> Parameters:
    def value(parameter: Parameter, code: float) -> Value:
        if parameter.bounds is not None:
            return code
        return parameter.values[round(code)]

    return {p.name: value(p, point[p.name]) for p in parameters}


run_optuna_gp = partial(run_peer, "optuna-gp")
run_optuna_tpe = partial(run_peer, "optuna-tpe")
run_smac = partial(run_peer, "smac")
run_bayes_opt = partial(run_peer, "bayes-opt")
run_hebo = partial(run_peer, "hebo")
