"""What is saved of a damaged study."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest

from bokern import Study
from bokern.errors import StorageError
from bokern.optimize import repair


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    place = tmp_path_factory.mktemp("repair") / "run.db"
    study = Study(place, {"x": (0.0, 1.0)}, initial=40)
    for number in range(30):
        trial = study.ask()
        study.tell(trial, float(number))
    return place


def change(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


@pytest.fixture
def damaged(sound, tmp_path):
    return shutil.copy(sound, tmp_path / "damaged.db")


def test_a_sound_study_is_copied_whole(damaged, tmp_path):
    done = repair(damaged, tmp_path / "copy.db")
    assert (done.kept, done.lost, done.unproven) == (61, (), ())
    one, other = Study(damaged), Study(tmp_path / "copy.db")
    assert other.trials.equals(one.trials)
    assert other.ask().parameters == one.ask().parameters
    assert other.check() == []


def test_a_changed_event_is_left_out_and_the_rest_kept(damaged, tmp_path):
    # Event 4 asks for trial 1, event 5 tells it.
    change(damaged, "UPDATE bokern_events SET body = '{}' WHERE number = 4")
    done = repair(damaged, tmp_path / "copy.db")
    assert (done.kept, done.lost) == (60, (4,))
    study = Study(tmp_path / "copy.db")
    assert study.trials["value"].tolist() == [float(n) for n in range(30)]
    study.tell(study.ask(), 1.0)


def test_a_missing_event_leaves_the_next_unproven(damaged, tmp_path):
    change(damaged, "DELETE FROM bokern_events WHERE number = 5")
    done = repair(damaged, tmp_path / "copy.db")
    assert (done.kept, done.lost, done.unproven) == (60, (5,), (6,))
    study = Study(tmp_path / "copy.db")
    assert [t.id for t in study.pending] == [1]
    assert len(study) == 30


def test_broken_pages(sound, damaged, tmp_path):
    content = bytearray(sound.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    told = Study(sound).trials["value"].tolist()
    rng = random.Random(1)
    kept = []
    for number in range(12):
        broken = bytearray(content)
        start = page * rng.randrange(1, len(content) // page)
        broken[start : start + page] = rng.randbytes(page)
        damaged.write_bytes(bytes(broken))
        try:
            done = repair(damaged, tmp_path / f"copy{number}.db")
        except StorageError:
            continue
        kept.append(done.kept)
        found = Study(tmp_path / f"copy{number}.db").trials["value"].dropna().tolist()
        assert set(found) <= set(told)
    assert len(kept) >= 6
    assert max(kept) > 20


def test_what_cannot_be_repaired(sound, damaged, tmp_path):
    with pytest.raises(StorageError, match="exists: name a new file"):
        repair(sound, damaged)
    with pytest.raises(StorageError, match="there is no study"):
        repair(tmp_path / "none.db", tmp_path / "copy.db")
    change(damaged, "DELETE FROM bokern_events WHERE number = 1")
    with pytest.raises(StorageError, match="first event"):
        repair(damaged, tmp_path / "copy.db")
    (tmp_path / "text.db").write_text("x,y\n")
    with pytest.raises(StorageError, match="no event of a study"):
        repair(tmp_path / "text.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
