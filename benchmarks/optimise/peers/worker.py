"""Runs one peer: JSON lines come in and go out.

In comes the setup, then a value for each point; out go the versions, then the points,
each with the CPU seconds since the last value came.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.optimise.peers.protocol import Dimension, Peer, Setup

PEERS = {
    "optuna-gp": "optuna_peer:OptunaGP",
    "optuna-tpe": "optuna_peer:OptunaTPE",
    "smac": "smac_peer:SmacBlackBox",
    "bayes-opt": "bayes_opt_peer:BayesOpt",
    "hebo": "hebo_peer:Hebo",
}
"""Module and class by name, so that only what is needed is imported."""


def serve() -> None:
    """Answers until its input ends."""
    # Libraries print: whatever they say goes where errors go.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(**document: Any) -> None:
        answers.write(json.dumps(document) + "\n")

    asked = json.loads(sys.stdin.readline())
    make = _load(asked["peer"])
    answer(version=version(asked["package"]))
    setup = asked["setup"]
    random.seed(setup["seed"])
    since = time.process_time()
    space = [Dimension(**each) for each in setup.pop("space")]
    peer: Peer = make(Setup(space=space, **setup))
    while True:
        point = peer.ask()
        answer(point=point, cpu_seconds=time.process_time() - since)
        line = sys.stdin.readline()
        if not line:
            return
        since = time.process_time()
        peer.tell(point, json.loads(line)["value"])


def _load(name: str) -> Any:
    module, kind = PEERS[name].split(":")
    return getattr(import_module(f"benchmarks.optimise.peers.{module}"), kind)


if __name__ == "__main__":
    serve()
