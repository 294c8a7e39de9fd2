"""Searches whose processes are killed, and searches on clusters."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import bokern
from tests.selection.test_search import content, search, series

STRUCTURES = ["RBF()", "Matern(1.5)", "Linear() + RBF()", "Periodic() + Linear()"]
OPTIONS = {"rounds": 1, "seed": 3}
KILLS = 20

SCRIPT = f"""
import sys, torch, warnings
from tests.selection.test_search import search, series
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    workers = int(sys.argv[3])
    found = search(
        *series(), {STRUCTURES!r}, journal=sys.argv[1], workers=workers, **{OPTIONS!r}
    )
    found.to_json(sys.argv[2])
"""


@pytest.fixture(scope="module")
def undisturbed():
    return search(*series(), STRUCTURES, **OPTIONS)


def start(tmp_path, workers):
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(tmp_path / "journal"), "", "1"]
    command[3:] = [str(tmp_path / "found.json"), str(workers)]
    here = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": here, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, cwd=here)


def whole_lines(path):
    if not path.exists():
        return []
    return path.read_bytes().split(b"\n")[:-1]


def keys(lines):
    return [json.loads(line)["entry"]["key"] for line in lines[1:]]


@pytest.mark.slow
def test_kill_the_master(tmp_path, undisturbed):
    """Killed at random moments, it goes on from its journal to the same result."""
    source = random.Random(0)
    journal = tmp_path / "journal"
    kept = []
    for _ in range(KILLS):
        process = start(tmp_path, 1)
        grown = len(kept)
        # It is killed once it works, so that each kill meets another moment.
        while process.poll() is None and len(whole_lines(journal)) <= grown:
            time.sleep(0.02)
        time.sleep(source.uniform(0.0, 0.6))
        process.kill()
        process.wait()
        lines = whole_lines(journal)
        assert lines[: len(kept)] == kept
        kept = lines
    process = start(tmp_path, 1)
    assert process.wait() == 0
    final = keys(whole_lines(journal))
    assert whole_lines(journal)[: len(kept)] == kept
    assert len(set(final)) == len(final)
    again = bokern.Comparison.from_json(tmp_path / "found.json")
    assert content(again) == content(undisturbed)


def _children(parent):
    done = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = (line.split(None, 1) for line in done.stdout.splitlines())
    return [int(pid) for pid, args in rows if "resource_tracker" not in args]


@pytest.mark.slow
def test_kill_the_workers(tmp_path, undisturbed):
    """Workers killed while they work cost no job and change no result.

    A kill waits for a sign of life since the last one: a job whose worker dies three
    times in a row, alone, is taken for the cause.
    """
    source = random.Random(1)
    journal = tmp_path / "journal"
    killed = 0
    while killed < KILLS:
        journal.unlink(missing_ok=True)
        process = start(tmp_path, 2)
        seen = 1
        while process.poll() is None:
            time.sleep(0.02)
            if killed == KILLS or len(whole_lines(journal)) <= seen:
                continue
            time.sleep(source.uniform(0.0, 0.5))
            seen = len(whole_lines(journal))
            for child in _children(process.pid)[-1:]:
                try:
                    os.kill(child, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    continue
        assert process.wait() == 0
        found = bokern.Comparison.from_json(tmp_path / "found.json")
        assert found.failures == ()
        assert content(found) == content(undisturbed)
        final = keys(whole_lines(journal))
        assert len(set(final)) == len(final)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_the_same_from_any_number_of_processes(undisturbed, workers):
    found = search(*series(), STRUCTURES, workers=workers, **OPTIONS)
    assert content(found) == content(undisturbed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_same_from_a_dask_cluster(undisturbed):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = search(*series(), STRUCTURES, executor=client.get_executor(), **OPTIONS)
    assert content(found) == content(undisturbed)


@pytest.mark.slow
def test_interrupting_keeps_the_journal(tmp_path, undisturbed):
    process = start(tmp_path, 1)
    journal = tmp_path / "journal"
    while process.poll() is None and len(whole_lines(journal)) < 5:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.wait()
    kept = whole_lines(journal)
    threads = threading.active_count()
    found = search(*series(), STRUCTURES, journal=journal, **OPTIONS)
    assert whole_lines(journal)[: len(kept)] == kept
    assert content(found) == content(undisturbed)
    assert threading.active_count() == threads
