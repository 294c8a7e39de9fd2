"""Documents that were changed at random: read, or refused by our errors, in time."""

from __future__ import annotations

import json
import math
import random
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bokern import Study
from bokern.ax import StructureRecord, load
from bokern.cli.configuration import read_configuration
from bokern.cli.tables import read_table
from bokern.errors import BokernError
from bokern.evidence import Evidence
from bokern.optimize.events import ROOT, Event
from bokern.optimize.log import EventLog
from bokern.optimize.state import State
from bokern.selection import Comparison
from bokern.selection.journal import Journal
from bokern.selection.storage import candidate_from_json
from bokern.structures import Structure
from tests.optimize.releases import FILES

pytestmark = pytest.mark.property
RELEASE = sorted(path for path in FILES.iterdir() if path.is_dir())[-1]
SECONDS = 2.0

ODD: list[Any] = [None, True, False, 0, -1, 1, 2**63, 10**400, -0.0, 1e308, 5e-324]
ODD += [math.nan, math.inf, "", "x", "NaN", "\0", "\ud800", "a" * 5000, [], {}, [[]]]
ODD += [{"x": 1}, {"": None}, [None], "RBF()", "__import__('os')", [1, 2, 3], "1e999"]


def changed(document: Any, rng: random.Random) -> Any:
    """A copy in which some places hold something else, or nothing, or twice."""
    found = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = list(_places(found))
        if not places:
            return rng.choice(ODD)
        holder, key = rng.choice(places)
        act = rng.randrange(5)
        if act == 0:
            del holder[key]
        elif act == 1:
            other, place = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[place]))
        elif act == 2 and isinstance(holder, dict):
            holder[rng.choice(["x", "", "kind", "__class__", key + "_"])] = holder[key]
        else:
            holder[key] = rng.choice(ODD)
        found = json.loads(json.dumps(found))
    return found


def _places(document: Any) -> Any:
    waiting = [document]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            keys: Any = list(found)
        elif isinstance(found, list):
            keys = range(len(found))
        else:
            continue
        for key in keys:
            yield found, key
            waiting.append(found[key])


def torn(text: str | bytes, rng: random.Random) -> bytes:
    """Bytes in which some are others, gone, or there twice."""
    found = bytearray(
        text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    )
    for _ in range(rng.choice([1, 1, 3, 20])):
        place = rng.randrange(len(found) + 1)
        act = rng.randrange(4)
        if act == 0:
            found[place : place + rng.randrange(1, 30)] = b""
        elif act == 1:
            found[place:place] = rng.randbytes(rng.randrange(1, 5))
        elif act == 2:
            found[place:place] = found[: rng.randrange(1, 200)]
        elif place < len(found):
            found[place] = rng.choice(b"\0\xff{}[]\",:-0e\n\t#&*!|%@`'")
    return bytes(found)


def _text(document: Any) -> str:
    return json.dumps(document)


Try = Callable[[random.Random, Path], Any]
EVENTS = EventLog(RELEASE / "study.db", "study", create=False).read()
CONFIGURATION = {
    "space": {
        "x": {"low": 0.0, "high": 1.0},
        "lr": {"low": "1e-5", "high": 0.1, "log": True},
        "layers": {"values": [1, 2, 4]},
        "kind": {"choice": ["a", "b"]},
        "epochs": 10,
    },
    "direction": {"loss": "minimize", "gain": "maximize"},
    "constraints": ["x <= 0.5"],
    "outcome_constraints": ["cost <= 1.2"],
    "structures": ["Matern(2.5)", "RBF()"],
    "acquisition": "logei",
    "selection": "draw",
    "initial": 4,
    "seed": 1,
    "budget": 30,
    "time_limit": 3,
    "study": "run.db",
    "command": "echo {x}",
}


def event(rng: random.Random, folder: Path) -> None:
    """One event after others that are sound."""
    number = rng.randrange(len(EVENTS))
    state = State()
    for before in EVENTS[:number]:
        state.apply(before)
    old = EVENTS[number]
    kind = old.kind if rng.random() < 0.8 else rng.choice(["told", "else", "added", ""])
    if rng.random() < 0.3:
        body = torn(old.body, rng).decode("utf-8", "replace")
    else:
        body = _text(changed(old.details(), rng))
    state.apply(Event(old.number, old.at, kind, body, old.link))
    assert state.number == old.number


def log(rng: random.Random, folder: Path) -> None:
    """A study whose events were changed and chained anew, then used."""
    place = folder / "run.db"
    place.unlink(missing_ok=True)
    events = [(e.at, e.kind, e.details()) for e in EVENTS]
    for _ in range(rng.randrange(1, 3)):
        number = rng.randrange(len(events))
        at, kind, body = events[number]
        body = changed(body, rng)
        if (
            not isinstance(body, dict)
            or "NaN" in _text(body)
            or "Infinity" in _text(body)
        ):
            continue
        events[number] = (at, kind, body)
    EventLog(place, "study", create=True).write_copy(events)
    study = Study(place)
    study.trials, study.pareto, study.pending, study.leaderboard  # noqa: B018
    repr(study)


def configuration(rng: random.Random, folder: Path) -> None:
    place = folder / "study.yaml"
    if rng.random() < 0.5:
        place.write_bytes(torn(yaml.safe_dump(CONFIGURATION), rng))
    else:
        document = changed(CONFIGURATION, rng)
        place.write_text(_text(document), encoding="utf-8")
    found = read_configuration(str(place))
    Study(None, found.space, **found.options)


def comparison(rng: random.Random, folder: Path) -> None:
    document = json.loads((RELEASE / "comparison.json").read_text("utf-8"))
    if rng.random() < 0.3:
        place = folder / "comparison.json"
        place.write_bytes(torn(_text(document), rng))
        found = Comparison.from_json(place)
    else:
        found = Comparison.from_json(_text(changed(document, rng)))
    str(found)


def stored_fit(rng: random.Random, folder: Path) -> None:
    """A candidate by itself, as journals keep them; its readers wrap these errors."""
    document = json.loads((RELEASE / "comparison.json").read_text("utf-8"))
    whole = {**document, "candidates": [changed(document["candidates"][0], rng)]}
    found = Comparison.from_json(_text(whole))
    assert found.candidates[0].structure == Structure.from_json(
        candidate_from_json(whole["candidates"][0]).structure.to_json()
    )


def evidence(rng: random.Random, folder: Path) -> None:
    document = json.loads((RELEASE / "comparison.json").read_text("utf-8"))
    Evidence.from_json(changed(document["candidates"][0]["evidence"], rng))


def structure(rng: random.Random, folder: Path) -> None:
    document = json.loads((RELEASE / "comparison.json").read_text("utf-8"))
    candidate = rng.choice(document["candidates"])
    Structure.from_json(changed(candidate["structure"], rng))


def journal(rng: random.Random, folder: Path) -> None:
    place = folder / "search.jsonl"
    lines = (RELEASE / "search.jsonl").read_text("utf-8").splitlines()
    header = json.loads(lines[0])["entry"]
    if rng.random() < 0.5:
        place.write_bytes(torn("\n".join(lines) + "\n", rng))
    else:
        number = rng.randrange(len(lines))
        lines[number] = _text(changed(json.loads(lines[number]), rng))
        place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Journal(place, header) as found:
        sound = {json.loads(line)["entry"].get("key") for line in lines[1:]}
        assert set(found.entries) <= sound


def record(rng: random.Random, folder: Path) -> None:
    """What a trial remembers of structures; one that is malformed is left out."""
    found = [d for e in EVENTS if (d := e.details().get("record"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        StructureRecord.from_json(changed(rng.choice(found), rng))


def table(rng: random.Random, folder: Path) -> None:
    place = folder / "trials.csv"
    place.write_bytes(torn((RELEASE / "study.csv").read_text("utf-8"), rng))
    first = EVENTS[0]
    state = State()
    state.apply(first)
    problem = state.problem
    study = Study(
        None, {p.name: p.declared for p in problem.parameters}, **problem.described
    )
    study.add(read_table(str(place)))


def exported(rng: random.Random, folder: Path) -> None:
    """Trials as ``bokern export`` writes them, brought into another study."""
    document = changed(json.loads((RELEASE / "study.json").read_text("utf-8")), rng)
    rows = document.get("trials") if isinstance(document, dict) else document
    state = State()
    state.apply(EVENTS[0])
    problem = state.problem
    study = Study(
        None, {p.name: p.declared for p in problem.parameters}, **problem.described
    )
    ended = [
        row
        for row in (rows if isinstance(rows, list) else [])
        if not (isinstance(row, dict) and row.get("status") == "pending")
    ]
    try:
        study.add(ended if isinstance(rows, list) else rows)
    finally:
        assert len(study) in (0, len(ended))


def snapshot(rng: random.Random, folder: Path) -> None:
    place = folder / "ax.json"
    text = (RELEASE / "ax.json").read_text("utf-8")
    if rng.random() < 0.5:
        place.write_bytes(torn(text, rng))
    else:
        place.write_text(_text(changed(json.loads(text), rng)), encoding="utf-8")
    load(place)


KINDS: dict[Try, int] = {
    event: 400,
    log: 200,
    configuration: 300,
    comparison: 200,
    stored_fit: 150,
    evidence: 100,
    structure: 100,
    journal: 200,
    record: 100,
    table: 100,
    exported: 100,
    snapshot: 50,
}


def test_the_counts_are_those_of_the_design():
    assert sum(KINDS.values()) == 2000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("part", [0.1, pytest.param(1.0, marks=pytest.mark.slow)])
def test_only_our_errors_and_no_hang(kind, part, tmp_path, capsys):
    seen: Counter[str] = Counter()
    longest = 0.0
    for number in range(round(part * KINDS[kind])):
        rng = random.Random(f"{kind.__name__} {number}")
        start = time.process_time()
        message = ""
        try:
            kind(rng, tmp_path)
        except BokernError as error:
            message = str(error)
        except Exception as error:
            raise AssertionError(f"document {number}: {error!r:.300}") from error
        seen["refused" if message else "read"] += 1
        assert len(message) < 6000
        longest = max(longest, time.process_time() - start)
        assert longest < SECONDS, f"document {number}"
    assert seen["refused"] or kind is record
    with capsys.disabled():
        print(f" {kind.__name__}: {dict(seen)}, longest {longest:.2f} s")


def test_what_is_exported_is_added_whole():
    rows = json.loads((RELEASE / "study.json").read_text("utf-8"))["trials"]
    state = State()
    state.apply(EVENTS[0])
    problem = state.problem
    space = {p.name: p.declared for p in problem.parameters}
    study = Study(None, space, **problem.described)
    added = study.add([row for row in rows if row["status"] != "pending"])
    assert [t.to_json()["standard_errors"] for t in added] == [
        row["standard_errors"] for row in rows if row["status"] != "pending"
    ]
    assert [t.reason for t in added] == [
        row["reason"] for row in rows if row["status"] != "pending"
    ]


def test_a_document_that_is_sound_is_read(tmp_path):
    """The fuzzing begins from what is accepted."""
    state = State()
    for each in EVENTS:
        assert each.follows(state.link if state.number else ROOT)
        state.apply(each)
    assert len(state.trials) > 5
    place = tmp_path / "study.yaml"
    place.write_text(yaml.safe_dump(CONFIGURATION), encoding="utf-8")
    found = read_configuration(str(place))
    Study(None, found.space, **found.options)
    Comparison.from_json(RELEASE / "comparison.json")
