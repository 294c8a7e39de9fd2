"""What a study survives: kills, crowds, full and read-only disks, hostile files."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bokern import Study, minimize, report
from bokern.errors import BokernError, StorageError
from bokern.optimize.events import ROOT, Event
from bokern.optimize.state import State

pytestmark = pytest.mark.integration
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def value(trial):
    return trial.parameters["x"] + trial.id


def work(place, pipe):
    """Asks and tells without end; says through the pipe what was told."""
    study = Study(place)
    while True:
        trial = study.ask(lease=60.0)
        told = study.tell(trial, value(trial))
        os.write(pipe, f"{told.id} {told.value!r}\n".encode())


class Writer:
    """A process that works on a study until it is killed."""

    def __init__(self, place, rng):
        self.rng = rng
        self.read, write = os.pipe()
        fork = multiprocessing.get_context("fork")
        self.process = fork.Process(target=work, args=(place, write))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        os.close(write)

    def kill(self):
        """What it had told before, which is something."""
        with os.fdopen(self.read, "rb") as stream:
            first = stream.readline()
            time.sleep(self.rng.uniform(0.0, 0.1))
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.join()
            lines = (first + stream.read()).decode().splitlines()
        return {int(line.split()[0]): float(line.split()[1]) for line in lines}


def kill_writers(tmp_path, kills, writers, seed):
    place = tmp_path / "run.db"
    Study(place, SQUARE, initial=10**6)
    rng = random.Random(seed)
    told = {}
    for _ in range(kills):
        crowd = [Writer(place, rng) for _ in range(writers)]
        for writer in crowd:
            told |= writer.kill()
        start = time.perf_counter()
        study = Study(place)
        orphans = {t.id for t in study.pending}
        asked = study.ask(lease=60.0)
        assert time.perf_counter() - start < 10
        # Those whose process died come first, the lowest number first.
        assert not orphans or asked.id == min(orphans)
        study.tell(asked, value(asked))
        assert study.check() == []
    study = Study(place)
    frame = study.trials.set_index("trial")
    assert frame.index.is_unique
    assert all(frame["value"][number] == found for number, found in told.items())
    done = frame[frame["status"] == "completed"]
    assert all(v == frame["x"][i] + i for i, v in done["value"].items())
    # At most one trial of each writer of the last round is left over.
    assert (frame["status"] != "completed").sum() <= writers
    return len(told)


@needs_fork
@pytest.mark.parametrize("writers", [1, 2])
def test_nothing_told_is_lost_by_kills(tmp_path, writers):
    assert kill_writers(tmp_path, 6, writers, seed=writers) >= 6 * writers


@needs_fork
@pytest.mark.slow
@pytest.mark.parametrize("writers", [1, 2])
def test_nothing_told_is_lost_by_200_kills(tmp_path, writers):
    assert kill_writers(tmp_path, 100, writers, seed=writers) >= 100 * writers


def crowd(place, count, barrier):
    study = Study(place)
    barrier.wait()
    for _ in range(count):
        trial = study.ask(lease=600.0)
        study.tell(trial, value(trial))


@needs_fork
@pytest.mark.parametrize(
    ("processes", "each"),
    [
        (2, 15),
        pytest.param(2, 100, marks=pytest.mark.slow),
        pytest.param(4, 100, marks=pytest.mark.slow),
        pytest.param(8, 100, marks=pytest.mark.slow),
    ],
)
def test_crowds_store_everything(tmp_path, processes, each):
    place = tmp_path / "run.db"
    Study(place, SQUARE, initial=10**6)
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(processes)
    crowds = [
        fork.Process(target=crowd, args=(place, each, barrier))
        for _ in range(processes)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for one in crowds:
            one.start()
    for one in crowds:
        one.join()
    assert [one.exitcode for one in crowds] == [0] * processes
    study = Study(place)
    frame = study.trials
    assert frame["trial"].tolist() == list(range(processes * each))
    assert (frame["status"] == "completed").all()
    assert not frame.duplicated(["x", "y"]).any()
    assert study.check() == []


def killed_at(place, call, seed):
    calls = []

    def f(x, y):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return bowl(x, y)

    minimize(f, SQUARE, 8, study=place, seed=seed, structures=["Matern(2.5)", "RBF()"])


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.6) ** 2


@needs_fork
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_killed_run_makes_the_same_suggestions(tmp_path, seed):
    fork = multiprocessing.get_context("fork")
    place = tmp_path / "run.db"
    rng = random.Random(seed)
    for _ in range(2):
        call = rng.randint(1, 4)
        process = fork.Process(target=killed_at, args=(place, call, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    options = {"seed": seed, "structures": ["Matern(2.5)", "RBF()"]}
    found = minimize(bowl, SQUARE, 8, study=place, **options)
    whole = minimize(bowl, SQUARE, 8, **options)
    columns = ["x", "y", "value", "structure"]
    assert found.trials[columns].equals(whole.trials[columns])


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 192 KiB of our own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("needs root to mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(path, spare=0):
    """Writes a file that leaves so many bytes of its disk."""
    handle = os.open(path, os.O_CREAT | os.O_WRONLY)
    size = 0
    try:
        while True:
            size += os.write(handle, b"\0" * 1024)
    except OSError:
        os.ftruncate(handle, max(0, size - spare))
    finally:
        os.close(handle)


def test_a_full_disk_loses_nothing(small_disk):
    place = small_disk / "run.db"
    study = Study(place, SQUARE, initial=10**6)
    told, reasons = {}, []
    for point in range(50):
        fill(small_disk / "filler", spare=1024 * (point % 25))
        try:
            trial = study.ask()
            told[trial.id] = study.tell(trial, value(trial)).value
        except StorageError as error:
            reasons.append(str(error))
            # Reading works meanwhile.
            frame = study.trials.set_index("trial")
            assert all(frame["value"][i] == v for i, v in told.items())
        (small_disk / "filler").unlink()
        for trial in study.pending:
            told[trial.id] = study.tell(trial, value(trial)).value
        assert Study(place).check() == []
    assert len(reasons) > 10
    assert all("free some space" in r or "free space" in r for r in reasons)
    frame = Study(place).trials.set_index("trial")
    assert frame["value"].to_dict() == told


def test_a_full_disk_at_the_beginning(small_disk):
    fill(small_disk / "filler")
    with pytest.raises(StorageError, match="cannot be made"):
        Study(small_disk / "run.db", SQUARE)
    assert {p.name for p in small_disk.iterdir()} == {"filler"}


def test_a_read_only_disk_can_be_read(small_disk, tmp_path):
    study = Study(small_disk / "run.db", SQUARE)
    study.tell(study.ask(), 0.5)
    study.ask()
    remount = ["mount", "-o", "remount,ro", str(small_disk)]
    subprocess.run(remount, check=True, capture_output=True)
    again = Study(small_disk / "run.db", SQUARE)
    assert again.best.value == 0.5
    assert len(again.trials) == 2
    assert again.check() == []
    assert report(again.result(), path=tmp_path / "report.html").stat().st_size > 1000
    for action in (again.ask, lambda: again.tell(1, 1.0)):
        with pytest.raises(StorageError, match="copy the study elsewhere"):
            action()
    assert [t.id for t in study.pending] == [1]


KINDS = ["created", "configured", "asked", "reissued", "told", "failed", "added"]
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("ax0"),
)
DOCUMENTS = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["x", "value", "trial"]), inner)
    ),
    max_leaves=4,
)
KEYS = ["trial", "trials", "parameters", "values", "sems", "reason", "record"]
KEYS += ["seconds", "generator", "structure", "schema", "problem", "options", "space"]


@given(
    kind=st.sampled_from([*KINDS, "else"]),
    body=st.dictionaries(st.sampled_from(KEYS), DOCUMENTS, max_size=7),
)
@settings(max_examples=300, deadline=2000)
@pytest.mark.property
def test_whatever_stands_in_a_log_is_read_or_refused(kind, body):
    state = State()
    state.apply(EVENT_ONE)
    with contextlib.suppress(BokernError):
        state.apply(Event.after(EVENT_ONE.link, 2, 0.0, kind, body))
    assert all(set(t.parameters) == {"x"} for t in state.trials.values())


def _first_event():
    log = Study(None, {"x": (0.0, 1.0)})._ledger.log
    (event,) = log.read()
    assert event.follows(ROOT)
    return event


EVENT_ONE = _first_event()
