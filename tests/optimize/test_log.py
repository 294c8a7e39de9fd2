"""The event log: nothing changes in it unnoticed."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from bokern.errors import StorageError
from bokern.optimize.events import ROOT, Event, damages
from bokern.optimize.log import EventLog, Lease


def filled(path, count=5):
    log = EventLog(path, "study", create=True)
    for number in range(count):
        add(log, "told", {"trial": number, "value": number / 7})
    return log


def add(log, kind, body, lease=None):
    position = [0, ROOT]
    for event in log.read():
        position = [event.number, event.link]
    return log.append(lambda newest: (kind, body), lambda: tuple(position), lease)


def change(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_events_come_back_in_order(tmp_path):
    log = filled(tmp_path / "run.db")
    events = EventLog(tmp_path / "run.db", "study", create=False).read()
    assert [e.number for e in events] == [1, 2, 3, 4, 5]
    assert [e.details()["value"] for e in events] == [n / 7 for n in range(5)]
    assert log.read(3, events[2].link) == events[3:]
    assert log.damages() == []
    assert pickle.loads(pickle.dumps(log)).read() == events


def test_several_studies_in_one_place(tmp_path):
    filled(tmp_path / "run.db")
    other = EventLog(tmp_path / "run.db", "other", create=False)
    assert other.read() == []
    add(other, "told", {"trial": 0})
    assert len(other.read()) == 1
    assert len(EventLog(tmp_path / "run.db", "study", create=False).read()) == 5


@pytest.mark.parametrize(
    ("statement", "number", "what"),
    [
        ("UPDATE bokern_events SET body = '{}' WHERE number = 3", 3, "changed"),
        ("UPDATE bokern_events SET at = at + 1 WHERE number = 3", 3, "changed"),
        ("UPDATE bokern_events SET kind = 'asked' WHERE number = 3", 3, "changed"),
        ("UPDATE bokern_events SET link = '0' WHERE number = 3", 3, "changed"),
        ("DELETE FROM bokern_events WHERE number = 3", 3, "missing"),
        ("DELETE FROM bokern_events WHERE number > 3", 4, "missing up to 5"),
        ("DELETE FROM bokern_events", 1, "missing up to 5"),
        ("DELETE FROM bokern_heads", 6, "note of the newest"),
        ("UPDATE bokern_heads SET number = 4", 5, "not the newest"),
    ],
)
def test_changes_are_noticed_and_named(tmp_path, statement, number, what):
    log = filled(tmp_path / "run.db")
    change(tmp_path / "run.db", statement)
    with pytest.raises(StorageError, match="bokern check"):
        log.read()
    found = log.damages()[0]
    assert found.number == number
    assert what in found.what


def test_what_was_read_before_is_checked_on_writing(tmp_path):
    log = filled(tmp_path / "run.db", 2)
    events = log.read()
    change(tmp_path / "run.db", "UPDATE bokern_heads SET link = 'f'")
    with pytest.raises(StorageError, match="changed after it was read"):
        log.append(lambda newest: ("told", {}), lambda: (2, events[1].link))


def test_damages_of_a_sound_chain_are_none_and_order_matters():
    one = Event.after(ROOT, 1, 1.5, "a", {"x": 1})
    two = Event.after(one.link, 2, 2.5, "b", {})
    assert damages([one, two], (2, two.link)) == []
    assert damages([two, one], (2, two.link)) != []
    assert damages([], None)[0].number == 1


def test_numbers_that_json_has_not_are_refused_before_anything_is_written(tmp_path):
    log = filled(tmp_path / "run.db", 1)
    with pytest.raises(ValueError, match="JSON"):
        add(log, "told", {"value": float("nan")})
    assert len(log.read()) == 1


@pytest.mark.parametrize(
    "body", ["", "[]", "3", "{", '{"value": NaN}', '{"value": -Infinity}', "[" * 10**5]
)
def test_bodies_that_are_no_objects_are_refused(body):
    with pytest.raises(StorageError, match="event 1 cannot be read"):
        Event(1, 0.0, "told", body, "").details()


def test_decide_may_decline(tmp_path):
    log = filled(tmp_path / "run.db", 1)
    assert not log.append(lambda newest: None, lambda: (0, ROOT))
    assert len(log.read()) == 1


def test_writers_at_once_number_their_events_without_gaps(tmp_path):
    filled(tmp_path / "run.db", 1)

    def write(worker):
        log = EventLog(tmp_path / "run.db", "study", create=False)
        for number in range(10):
            event = ("told", {"from": worker, "number": number})
            assert log.append(lambda newest, e=event: e, lambda: (0, ROOT))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    events = EventLog(tmp_path / "run.db", "study", create=False).read()
    assert [e.number for e in events] == list(range(1, 42))
    bodies = [e.details() for e in events[1:]]
    assert len({(b["from"], b["number"]) for b in bodies}) == 40


def test_leases_are_renewed_in_place(tmp_path):
    log = filled(tmp_path / "run.db", 1)
    add(log, "asked", {"trial": 3}, Lease(3, 10.0, "me:1"))
    log.lease([Lease(3, 20.0, "me:1"), Lease(4, 5.0, "you:2")])
    assert log.leases() == {3: Lease(3, 20.0, "me:1"), 4: Lease(4, 5.0, "you:2")}
    assert log.damages() == []


def test_in_memory():
    log = EventLog(None, "study", create=True)
    add(log, "told", {"trial": 0})
    assert len(log.read()) == 1
    with pytest.raises(TypeError, match="give it a file"):
        pickle.dumps(log)


def test_an_sqlite_url_is_a_file(tmp_path):
    filled(tmp_path / "run.db")
    log = EventLog(f"sqlite:///{tmp_path / 'run.db'}", "study", create=False)
    assert len(log.read()) == 5


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_file_can_be_read(tmp_path):
    log = filled(tmp_path / "run.db")
    (tmp_path / "run.db").chmod(0o400)
    assert len(log.read()) == 5
    with pytest.raises(StorageError, match="read-only"):
        add(log, "told", {})


def test_no_flipped_bit_goes_unnoticed(tmp_path):
    sound = filled(tmp_path / "run.db", 60).read()
    content = (tmp_path / "run.db").read_bytes()
    rng = random.Random(0)
    noticed = 0
    for _ in range(150):
        bit = rng.randrange(8 * len(content))
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        (tmp_path / "flip.db").write_bytes(bytes(damaged))
        try:
            found = EventLog(tmp_path / "flip.db", "study", create=False).read()
        except StorageError:
            noticed += 1
            continue
        assert found == sound  # the bit lay where nothing is stored
    assert noticed > 30


def test_no_truncation_goes_unnoticed(tmp_path):
    sound = filled(tmp_path / "run.db", 60).read()
    content = (tmp_path / "run.db").read_bytes()
    rng = random.Random(0)
    for _ in range(40):
        cut = tmp_path / "cut.db"
        shutil.copy(tmp_path / "run.db", cut)
        os.truncate(cut, rng.randrange(len(content)))
        try:
            found = EventLog(cut, "study", create=False).read()
        except StorageError:
            continue
        assert found == sound
