"""Tasks in parallel, each result a JSON line, resumed where they stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import torch
from tqdm import tqdm

Record = dict[str, Any]


class Task(Protocol):
    """A piece of work that can be pickled and that names itself."""

    @property
    def seed(self) -> int:
        """Tasks of one seed begin together."""

    @property
    def key(self) -> str:
        """What tells this task from all others; stored with its record."""

    def execute(self) -> Record:
        """Does the work, in a process of its own."""


def read_records(path: Path) -> list[Record]:
    """The records of a results file; none if it does not exist.

    A last line that a kill left unfinished is dropped: its task runs again.
    """
    if not path.exists():
        return []
    records = []
    for line in path.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records


def run_tasks(
    tasks: Iterable[Task], out: Path, jobs: int = 1, minutes: float | None = None
) -> None:
    """Runs the tasks that ``out`` does not hold yet.

    Tasks come seed by seed. When the time left is shorter than the last seed took, no
    other seed begins, so that every method and objective has the same seeds.

    Args:
        tasks: In order of their seeds.
        out: A file of JSON lines, appended to.
        jobs: How many processes, one thread each.
        minutes: How long new seeds may begin.
    """
    done = {record["key"] for record in read_records(out)}
    todo = [task for task in tasks if task.key not in done]
    out.parent.mkdir(parents=True, exist_ok=True)
    _end_the_last_line(out)
    bar = tqdm(total=len(todo), unit="run", disable=None)
    # Children begin afresh: a fork of a process that holds torch's threads may hang.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    with pool, bar, out.open("a") as file:
        running: dict[Future[Record], Task] = {}

        def collect() -> None:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                file.write(json.dumps({"key": task.key, **future.result()}) + "\n")
                file.flush()
                bar.update()

        for task in _in_time(todo, minutes):
            running[pool.submit(_execute, task)] = task
            while len(running) >= jobs:
                collect()
        while running:
            collect()


def _in_time(tasks: list[Task], minutes: float | None) -> Iterator[Task]:
    """Yields tasks, and stops before a seed that would end too late."""
    start = began = time.monotonic()
    for before, task in zip([None, *tasks], tasks, strict=False):
        if minutes is not None and before is not None and task.seed != before.seed:
            now = time.monotonic()
            if now + (now - began) > start + 60.0 * minutes:
                return
            began = now
        yield task


def _execute(task: Task) -> Record:
    torch.set_num_threads(1)
    return task.execute()


def _end_the_last_line(path: Path) -> None:
    """Keeps a line that a kill left unfinished apart from the next record."""
    text = path.read_bytes() if path.exists() else b""
    if text and not text.endswith(b"\n"):
        with path.open("a") as file:
            file.write("\n")
