from __future__ import annotations

import json
import time
from dataclasses import dataclass

import pytest

from benchmarks.tasks import read_records, run_tasks


@dataclass(frozen=True)
class Sleeper:
    """A task that takes a given time."""

    seed: int
    name: str = "a"
    seconds: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.name}/{self.seed}"

    def execute(self):
        time.sleep(self.seconds)
        return {"seed": self.seed, "done": time.time()}


@pytest.mark.integration
def test_finished_tasks_are_not_run_again(tmp_path):
    out = tmp_path / "deep" / "results.jsonl"
    run_tasks([Sleeper(0), Sleeper(1)], out)
    first = out.read_text()
    run_tasks([Sleeper(0), Sleeper(1), Sleeper(2)], out, jobs=2)
    assert out.read_text().startswith(first)
    assert [r["key"] for r in read_records(out)] == ["a/0", "a/1", "a/2"]


@pytest.mark.integration
def test_a_line_cut_by_a_kill_is_run_again(tmp_path):
    out = tmp_path / "results.jsonl"
    out.write_text(json.dumps({"key": "a/0"}) + '\n{"key": "a/1", "val')
    run_tasks([Sleeper(0), Sleeper(1)], out)
    assert [r["key"] for r in read_records(out)] == ["a/0", "a/1"]


@pytest.mark.integration
def test_when_time_is_short_all_methods_have_the_same_seeds(tmp_path):
    out = tmp_path / "results.jsonl"
    tasks = [Sleeper(seed, name, 0.3) for seed in range(50) for name in "abc"]
    run_tasks(tasks, out, minutes=4 / 60)
    records = read_records(out)
    assert 3 <= len(records) < 60
    assert len(records) % 3 == 0


def test_no_file_is_no_records(tmp_path):
    assert read_records(tmp_path / "absent.jsonl") == []
