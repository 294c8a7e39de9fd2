"""Damage to a study's file: none goes unnoticed, it is named, and a copy is saved."""

from __future__ import annotations

import random
import re

import pytest

from bokern import Study
from bokern.cli import main
from bokern.errors import StorageError
from bokern.optimize.log import EventLog

TOLD = 30


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    place = tmp_path_factory.mktemp("damage") / "run.db"
    study = Study(place, {"x": (0.0, 1.0)}, initial=10**6)
    for number in range(TOLD):
        trial = study.ask()
        study.tell(trial, number / 7)
    return place


def flips(content, count, rng):
    for _ in range(count):
        bit = rng.randrange(8 * len(content))
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def cuts(content, count, rng):
    for _ in range(count):
        yield content[: rng.randrange(len(content))]


def survey(sound, folder, capsys, damaged):
    """What is found in damaged files: counts of what became of them."""
    log = EventLog(sound, "study", create=False)
    events = log.read()
    values = set(Study(sound).trials["value"])
    place, copy = folder / "damaged.db", folder / "copy.db"
    found = dict.fromkeys(["harmless", "named", "unreadable", "saved"], 0)
    for content in damaged:
        place.write_bytes(content)
        copy.unlink(missing_ok=True)
        try:
            same = EventLog(place, "study", create=False).read() == events
        except StorageError:
            same = None
        # What is read without an error is what was written.
        assert same in (True, None)
        code = main(["check", str(place), "--repair", str(copy)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert "unexpected" not in err
        assert place.read_bytes() == content
        if same:
            assert code == 0, out + err
            assert out.startswith("sound: ")
            found["harmless"] += 1
        else:
            assert code == 1
            named = re.findall(r"^event (\d+): ", out, re.MULTILINE)
            named += re.findall(r"^event (\d+): ", err, re.MULTILINE)
            found["named" if named else "unreadable"] += 1
            assert named or re.search("cannot be|no study|is empty|no event", out + err)
        if copy.exists():
            again = Study(copy)
            assert again.check() == []
            assert set(again.trials["value"].dropna()) <= values
            kept = len(EventLog(copy, "study", create=False).read()) - 1
            assert kept == len(events) or not same
            assert f"{len(events) - kept} lost" in out or not named
            found["saved"] += not same
    return found


@pytest.mark.parametrize(
    ("bits", "truncations"),
    [
        (40, 15),
        pytest.param(1000, 100, marks=pytest.mark.slow),
    ],
)
def test_no_damage_goes_unnoticed(sound, tmp_path, capsys, bits, truncations):
    content = sound.read_bytes()
    rng = random.Random(1)
    flipped = survey(sound, tmp_path, capsys, flips(content, bits, rng))
    assert flipped["named"] + flipped["unreadable"] > bits // 5
    assert flipped["named"] > flipped["unreadable"]
    assert flipped["saved"] >= 0.8 * (flipped["named"] + flipped["unreadable"])
    cut = survey(sound, tmp_path, capsys, cuts(content, truncations, rng))
    assert cut["harmless"] == 0
    assert cut["named"] > truncations // 10
    with capsys.disabled():
        print(f"\n{bits} bits: {flipped}; {truncations} truncations: {cut}")
