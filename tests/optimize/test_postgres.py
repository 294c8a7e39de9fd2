"""A study in a database server, which several machines can reach."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bokern import Study
from bokern.errors import StorageError

pytestmark = pytest.mark.integration
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def binary(name):
    """A program of the newest PostgreSQL that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@pytest.fixture(scope="module")
def server():
    """The URL of a server of our own, which lives as long as these tests."""
    pytest.importorskip("psycopg", reason="needs the driver psycopg")
    if binary("initdb") is None or binary("postgres") is None:
        pytest.skip("needs a PostgreSQL server to start")
    folder = tempfile.mkdtemp(prefix="bokern-postgres-")
    user = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        user = {"user": "postgres", "cwd": "/"}
        try:
            shutil.chown(folder, "postgres")
        except LookupError:
            pytest.skip("needs a user 'postgres' to start a server as")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = f"{folder}/data"
    subprocess.run(
        [binary("initdb"), "-D", data, "-U", "me", "-A", "trust", "--no-sync"],
        check=True,
        capture_output=True,
        **user,
    )
    options = f"-p {port} -k {folder} -h 127.0.0.1 -c fsync=off"
    control = [binary("pg_ctl"), "-D", data, "-w", "-l", f"{folder}/log"]
    subprocess.run([*control, "-o", options, "start"], check=True, **user)
    try:
        yield f"postgresql+psycopg://me:secret@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, **user)
        shutil.rmtree(folder, ignore_errors=True)


def test_ask_tell_and_open_again(server):
    study = Study(server, SQUARE, name="one", initial=3, structures="Matern(2.5)")
    for _ in range(4):
        trial = study.ask(lease=60.0)
        study.tell(trial, trial.parameters["x"])
    again = Study(server, name="one")
    assert again.trials["value"].tolist() == study.trials["value"].tolist()
    assert again.check() == []
    assert again.best.value == study.trials["value"].min()
    other = Study(server, SQUARE, name="two")
    assert len(other) == 0
    with pytest.raises(StorageError, match="holds no study 'three'"):
        Study(server, name="three")


WRITER = """
import sys, bokern
study = bokern.Study(sys.argv[1], name="crowd")
for _ in range(int(sys.argv[2])):
    trial = study.ask(lease=600.0)
    study.tell(trial, trial.parameters["x"])
"""


def test_several_processes_at_once(server):
    Study(server, SQUARE, name="crowd", initial=1000)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, server, "10"]) for _ in range(3)
    ]
    assert [w.wait(timeout=120) for w in writers] == [0, 0, 0]
    study = Study(server, name="crowd")
    frame = study.trials
    assert frame["trial"].tolist() == list(range(30))
    assert (frame["status"] == "completed").all()
    assert not frame.duplicated(["x", "y"]).any()
    assert (frame["value"] == frame["x"]).all()
    assert study.check() == []


def test_passwords_are_not_shown(server):
    study = Study(server, SQUARE, name="shown")
    assert "secret" not in repr(study)
    with pytest.raises(StorageError) as caught:
        Study(server.replace("/postgres", "/nowhere"), SQUARE)
    assert "secret" not in str(caught.value)
