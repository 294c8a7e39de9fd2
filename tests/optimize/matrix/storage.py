"""Storage: what lies at the place of a study, and what happens to it."""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sqlalchemy as sql

from bokern import Study, report
from bokern.errors import StorageError, TrialError
from bokern.optimize import database, repair
from bokern.optimize.log import EventLog
from tests.optimize.matrix.row import EXPIRED, PENDING, SPACE, TOLD, Bench, Row, Served

PATH = "the path is a folder, has no parent, is a link loop"
FILE = "a truncated, zeroed, empty, foreign or bit-flipped file"
SCHEMA = "newer and older schema"
LOCKS = "lock errors (network file system) → refused with advice"
KILL = "kill during ask, tell, report, migration"
FULL = "disk full"
READ_ONLY = "read-only"
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def place(
    item: str,
    name: str,
    where: str,
    *says: str,
    prepare: Callable[[Bench], Any] | None = None,
    only: str = "",
) -> list[Row]:
    """A place that can neither be opened nor begun at."""
    shared: dict[str, Any] = {"code": 1, "error": StorageError, "prepare": prepare}
    rows = [
        Row(
            item,
            f"{name}, opened",
            says,
            lambda bench: Study(bench.folder / where),
            lambda bench: ["status", bench.folder / where],
            **shared,
        ),
        (
            Row(
                item,
                f"{name}, begun",
                says,
                lambda bench: Study(bench.folder / where, SPACE),
                lambda bench: [
                    "optimize",
                    bench.write(
                        "new.yaml",
                        {
                            "study": where,
                            "space": SPACE,
                            "budget": 3,
                            "command": "echo 1",
                        },
                    ),
                    "--resume",
                ],
                **shared,
            )
        ),
    ]
    return [row for row in rows if row.name.endswith(only)]


def linked(bench: Bench) -> None:
    (bench.folder / "loop").symlink_to(bench.folder / "loop")


def written(name: str, content: bytes) -> Callable[[Bench], Any]:
    return lambda bench: bench.write(name, content)


def foreign_database(bench: Bench) -> None:
    change(bench, "CREATE TABLE trials (number INTEGER)", "new.db")


def change(bench: Bench, statement: str, name: str = "run.db") -> None:
    with sqlite3.connect(bench.folder / name) as connection:
        connection.execute(statement)
    connection.close()


def cut(part: float) -> Callable[[Bench], Any]:
    def act(bench: Bench) -> None:
        os.truncate(bench.path, int(part * bench.path.stat().st_size))

    return act


def zeroed(bench: Bench) -> None:
    bench.path.write_bytes(bytes(bench.path.stat().st_size))


def half_zeroed(bench: Bench) -> None:
    content = bench.path.read_bytes()
    half = len(content) // 2
    bench.path.write_bytes(content[:half] + bytes(len(content) - half))


def flipped(bench: Bench) -> None:
    content = bytearray(bench.path.read_bytes())
    place = content.index(b'"values":{"value":0.5}') + 20
    content[place] ^= 1
    bench.path.write_bytes(bytes(content))


def rewritten(**described: Any) -> Callable[[Bench], Any]:
    """Writes the log anew, with sound links and another first event."""

    def act(bench: Bench) -> None:
        first = dict(described)
        kind = first.pop("kind", None)
        log = EventLog(bench.path, "study", create=False)
        events = [(e.at, e.kind, e.details()) for e in log.read()]
        if kind is not None:
            events.append((events[-1][0], kind, {}))
        events[0][2].update(first)
        bench.path.unlink()
        EventLog(bench.path, "study", create=True).write_copy(events)

    return act


CHECK = "'bokern check'"
BEGIN = "pass a space to begin one"
HINT = ("this one was left as it is", "name another file")

PLACES = [
    *place(PATH, "a folder", ".", "is a folder: name a file, such as 'run.db'"),
    *place(PATH, "no text", "", "is a folder: name a file, such as 'run.db'"),
    *place(PATH, "no folder", "no/run.db", "no study at", BEGIN, only="opened"),
    *place(
        PATH,
        "no parent",
        "no/run.db",
        "there is no folder",
        "no'",
        "make",
        only="begun",
    ),
    *place(PATH, "a file for a folder", "run.db/x.db", "run.db/x.db", "folder"),
    *place(PATH, "a link loop", "loop", "loop", "links", prepare=linked),
    *place(PATH, "nothing there", "none.db", "no study at", BEGIN, only="opened"),
    *place(PATH, "a name that is too long", "a" * 5000, "aaa", "too long"),
    Row(
        PATH,
        "NUL",
        ("'a\\x00b'", "file"),
        lambda bench: Study("a\0b", SPACE),
        error=StorageError,
    ),
    Row(
        PATH,
        "a number",
        ("path", "got 3"),
        lambda bench: Study(3, SPACE),  # type: ignore[arg-type]
        error=StorageError,
    ),
    Row(
        PATH,
        "bytes",
        ("path", "got b'run.db'"),
        lambda bench: Study(b"run.db", SPACE),  # type: ignore[arg-type]
        error=StorageError,
    ),
    Row(
        PATH,
        "an unknown database",
        ("'nothing'", "driver"),
        lambda bench: Study("nothing://host/name", SPACE),
        lambda bench: ["status", "nothing://host/name"],
        code=1,
        error=StorageError,
    ),
    Row(
        PATH,
        "a server without a host",
        ("postgresql+psycopg", "cannot be opened"),
        lambda bench: Study("postgresql+psycopg://", SPACE),
        error=StorageError,
    ),
    Row(
        PATH,
        "a URL in memory",
        ("sqlite://", "None"),
        lambda bench: Study("sqlite://", SPACE),
        lambda bench: ["status", "sqlite://"],
        code=1,
        error=StorageError,
    ),
    Row(
        PATH,
        "no such study in it",
        ("holds no study 'other'", "pass a space to begin one"),
        lambda bench: Study(bench.path, name="other"),
        lambda bench: ["status", bench.path, "--name", "other"],
        code=1,
        error=StorageError,
    ),
    *place(FILE, "empty", "new.db", "is empty", *HINT, prepare=written("new.db", b"")),
    *place(
        FILE,
        "a table",
        "new.db",
        "no study's file",
        *HINT,
        prepare=written("new.db", b"x,y\n1,2\n"),
    ),
    *place(
        FILE,
        "zeros",
        "new.db",
        "no study's file",
        *HINT,
        prepare=written("new.db", bytes(4096)),
    ),
    *place(
        FILE,
        "a picture",
        "new.db",
        "no study's file",
        *HINT,
        prepare=written("new.db", b"\x89PNG\r\n\x1a\n"),
    ),
    *place(
        FILE,
        "a head alone",
        "new.db",
        "cannot be opened",
        "damaged",
        prepare=written("new.db", database.MAGIC + bytes(4096)),
    ),
    *place(
        FILE,
        "another database",
        "new.db",
        "SQLite file of something else",
        *HINT,
        prepare=foreign_database,
    ),
    *place(FILE, "zeroed", "run.db", "no study's file", prepare=zeroed),
    *place(FILE, "half zeroed", "run.db", "run.db", CHECK, prepare=half_zeroed),
    *place(FILE, "cut to a half", "run.db", "run.db", CHECK, prepare=cut(0.5)),
    *place(FILE, "cut to nothing", "run.db", "is empty", prepare=cut(0)),
    *place(FILE, "cut to a few bytes", "run.db", "run.db", prepare=cut(0.001)),
    *place(
        FILE,
        "a flipped bit",
        "run.db",
        "event 3",
        "run.db",
        CHECK,
        "--repair",
        prepare=flipped,
    ),
    *place(
        FILE,
        "a changed event",
        "run.db",
        "event 3",
        CHECK,
        prepare=lambda bench: change(
            bench, "UPDATE bokern_events SET at = at + 1 WHERE number = 3"
        ),
    ),
    *place(
        FILE,
        "its end is gone",
        "run.db",
        "event 4",
        CHECK,
        prepare=lambda bench: change(
            bench, "DELETE FROM bokern_events WHERE number > 3"
        ),
    ),
    *place(
        FILE,
        "a table is gone",
        "run.db",
        "bokern_heads",
        CHECK,
        prepare=lambda bench: change(bench, "DROP TABLE bokern_heads"),
    ),
    *place(
        FILE,
        "texts for numbers",
        "run.db",
        "event 3",
        CHECK,
        prepare=lambda bench: change(
            bench, "UPDATE bokern_events SET at = 'soon' WHERE number = 3"
        ),
    ),
    *place(
        FILE,
        "no text at all",
        "run.db",
        "event 3",
        CHECK,
        prepare=lambda bench: change(
            bench, "UPDATE bokern_events SET body = x'ff00fe' WHERE number = 3"
        ),
    ),
    *place(
        SCHEMA,
        "newer",
        "run.db",
        "of version 2, this bokern reads up to 1",
        "install",
        prepare=rewritten(schema=2),
    ),
    *place(
        SCHEMA,
        "older than the first",
        "run.db",
        "version 0",
        "1",
        prepare=rewritten(schema=0),
    ),
    *place(
        SCHEMA,
        "no version",
        "run.db",
        "version None",
        "1",
        prepare=rewritten(schema=None),
    ),
    *place(
        SCHEMA,
        "an unknown event",
        "run.db",
        "event 8",
        "'pruned'",
        "newer bokern",
        "install",
        prepare=rewritten(kind="pruned"),
    ),
    *place(
        SCHEMA,
        "options of a newer one",
        "run.db",
        "'colour'",
        "newer bokern",
        prepare=rewritten(options={"colour": 1}),
    ),
]


def sqlite_says(pragma: str) -> Callable[[Bench], Any]:
    """Has SQLite behave as on a bad disk."""

    def act(bench: Bench) -> None:
        engine = bench.study._ledger.log._engine

        @sql.event.listens_for(engine, "connect")
        def connect(connection: Any, _: Any) -> None:
            connection.execute(pragma)

    return act


def raised(text: str) -> Callable[[Bench], Any]:
    """Has SQLite fail as it does on some network drives."""

    def act(bench: Bench) -> None:
        engine = bench.study._ledger.log._engine

        @sql.event.listens_for(engine, "begin")
        def begin(connection: Any) -> None:
            raise sqlite3.OperationalError(text)

    return act


def locked(bench: Bench) -> None:
    """Another process holds the file for good."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "BUSY_SECONDS", 0.05)
        engine = database.engine_of(str(bench.path), bench.path)
    bench.study._ledger.log._engine = engine
    holder = sqlite3.connect(bench.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    bench.holder = holder  # type: ignore[attr-defined]


ROW = {"parameters": {"x": 0, "n": 1, "k": "a"}, "values": 1.0}
ACTS: dict[str, Callable[[Bench], Any]] = {
    "ask": lambda bench: bench.study.ask(lease=1.0),
    "tell": lambda bench: bench.study.tell(PENDING, 1.0),
    "fail": lambda bench: bench.study.fail(PENDING, "burst " * 2000),
    "add": lambda bench: bench.study.add([ROW] * 1000),
    "renew": lambda bench: bench.study.renew(PENDING, 10.0),
    "configure": lambda bench: bench.study._configure({"seed": 3}),
}


def trouble(
    item: str,
    name: str,
    prepare: Callable[[Bench], Any],
    *says: str,
    acts: Sequence[str] = tuple(ACTS),
) -> list[Row]:
    return [
        Row(
            item,
            f"{name}, {what}",
            ("run.db", *says),
            ACTS[what],
            error=StorageError,
            prepare=prepare,
        )
        for what in acts
    ]


TROUBLES = [
    *trouble(
        FULL,
        "no page left",
        sqlite_says("PRAGMA max_page_count = 1"),
        "free some space",
        "nothing that is stored is lost",
        acts=("fail", "add"),  # a page that is there may take a small event
    ),
    *trouble(
        READ_ONLY,
        "a read-only file",
        sqlite_says("PRAGMA query_only = 1"),
        "read-only",
        "copy the study elsewhere",
    ),
    *trouble(LOCKS, "held by another", locked, "locked", "local disk", "network"),
    *trouble(LOCKS, "no locks", raised("locking protocol"), "local disk", "network"),
    *trouble(LOCKS, "an error of the disk", raised("disk I/O error"), "check the disk"),
]


# -- what is served ----------------------------------------------------------------


def in_fork(act: Callable[[], Any]) -> int:
    """Does something in a forked process; its exit status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def dies_at(point: str) -> None:
    """Has this process killed at a point of its next transaction that writes."""

    def kill(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if point == "before it is stored":
        sql.event.listen(sql.Engine, "commit", kill)
    elif point == "halfway":
        sql.event.listen(
            sql.Engine,
            "after_cursor_execute",
            lambda c, cursor, statement, *_: (
                kill() if statement.startswith("INSERT INTO bokern_events") else None
            ),
        )


def killed(what: str, point: str) -> Callable[[Bench], Any]:
    def act(bench: Bench) -> None:
        before = bench.open("run.db").trials

        def child() -> None:
            study = bench.open("run.db")
            study._mirrored()
            dies_at(point)
            if what == "ask":
                study.ask(lease=60.0)
            else:
                study.tell(PENDING, 0.25)
            os.kill(os.getpid(), signal.SIGKILL)

        assert in_fork(child) == signal.SIGKILL
        study = bench.open("run.db")
        assert study.check() == []
        stored = point == "after it was stored"
        frame = study.trials
        if what == "tell":
            assert study[PENDING].status == ("completed" if stored else "pending")
            frame = frame[frame["trial"] != PENDING]
            before = before[before["trial"] != PENDING]
        columns = ["trial", "x", "n", "k", "value", "status"]
        assert frame[columns].equals(before[columns])
        # The expired trial was handed out to the process that died.
        assert study.ask().id == EXPIRED

    return act


def killed_report(bench: Bench) -> None:
    page = bench.folder / "report.html"
    page.write_text("the old one")
    content = bench.path.read_bytes()

    def child() -> None:
        result = bench.study.result()
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        report(result, path=page)

    bench.study._now()
    assert in_fork(child) == signal.SIGKILL
    assert page.read_text() == "the old one"
    assert bench.path.read_bytes() == content
    assert report(bench.study.result(), path=page).stat().st_size > 1000


def killed_migration(point: str) -> Callable[[Bench], Any]:
    def act(bench: Bench) -> None:
        """A study is copied by `repair`; there is no other migration yet."""
        content = bench.path.read_bytes()

        def child() -> None:
            dies_at(point)
            repair(bench.path, bench.folder / "copy.db")
            os.kill(os.getpid(), signal.SIGKILL)

        assert in_fork(child) == signal.SIGKILL
        assert bench.path.read_bytes() == content
        copy = bench.folder / "copy.db"
        if point == "after it was stored":
            assert len(Study(copy)) == len(bench.study)
        elif copy.exists():
            with pytest.raises(StorageError, match="holds no study"):
                Study(copy)
        assert repair(bench.path, bench.folder / "next.db").lost == ()

    return act


def together(bench: Bench) -> None:
    """Two that write and one that reads."""
    study = Study(bench.folder / "new.db", {"x": (0.0, 1.0)}, initial=10**6)
    errors: list[BaseException] = []
    stop = threading.Event()

    def read() -> None:
        reader = bench.open("new.db")
        try:
            while not stop.is_set():
                frame = reader.trials
                done = frame[frame["status"] == "completed"]
                assert (done["value"] == done["x"]).all()
                assert frame["trial"].tolist() == list(range(len(frame)))
        except BaseException as error:
            errors.append(error)

    def write() -> None:
        writer = bench.open("new.db")
        for _ in range(8):
            trial = writer.ask(lease=600.0)
            writer.tell(trial, trial.parameters["x"])

    threads = [threading.Thread(target=f) for f in (read, write, write)]
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join()
    stop.set()
    threads[0].join()
    assert errors == []
    assert len(study) == 16
    assert study.check() == []


def hour_back(bench: Bench) -> None:
    study = Study(bench.folder / "new.db", {"x": (0.0, 1.0)}, initial=9)
    held = study.ask(lease=600.0)
    late = study.ask()
    now = time.time
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: now() - 3600.0)
        told = study.tell(late, 0.5)
        assert told.seconds >= 0.0
        assert study.ask(lease=1.0).id == 2
        assert study.tell(held, 0.7).value == 0.7
        study.renew(2, 1e-3)
        time.sleep(0.01)
        assert study.ask().id == 2
    again = bench.open("new.db")
    assert again.check() == []
    assert (again.trials["seconds"].dropna() >= 0.0).all()
    assert again.trials["value"].tolist()[:2] == [0.7, 0.5]


def forked(bench: Bench) -> None:
    study = bench.study
    study._now()

    def child() -> None:
        study.tell(PENDING, 0.25)
        study.tell({"x": 0.5, "n": 1, "k": "b"}, 0.125)

    assert in_fork(child) == 0
    assert study[PENDING].value == 0.25
    assert study.best.value == 0.125
    with pytest.raises(TrialError, match="completed already"):
        study.tell(PENDING, 1.0)
    assert study.check() == []


def pickled(bench: Bench) -> None:
    again = pickle.loads(pickle.dumps(bench.study))
    assert again.trials.equals(bench.study.trials)
    again.tell(PENDING, 0.25)
    assert bench.study[PENDING].value == 0.25


def pickled_without_file(bench: Bench) -> None:
    with pytest.raises(TypeError, match="give it a file"):
        pickle.dumps(Study(None, SPACE))


def stale(bench: Bench) -> None:
    """A lease of a process that is gone, and one of another machine."""
    study = Study(bench.folder / "new.db", {"x": (0.0, 1.0)}, initial=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bokern.optimize.ledger.me", lambda: "elsewhere:1")
        far = study.ask(lease=2.0)

    def child() -> None:
        assert study.ask(lease=600.0).id == 1

    assert in_fork(child) == 0
    assert study.ask(lease=600.0).id == 1
    time.sleep(2.0)
    assert study.ask(lease=600.0).id == far.id
    assert study.ask().id == 2


def full_then_free(bench: Bench) -> None:
    """Reading works meanwhile, and it goes on."""
    log = bench.study._ledger.log
    sound = log._engine
    log._engine = database.engine_of(str(bench.path), bench.path)
    sqlite_says("PRAGMA max_page_count = 1")(bench)
    rows = [{"parameters": {"x": 0.5, "n": 1, "k": "b"}, "values": 1.0}] * 1000
    with pytest.raises(StorageError, match="free some space"):
        bench.study.add(rows)
    assert bench.study.best.value == 0.5
    count = len(bench.study)
    log._engine = sound
    bench.study.tell(PENDING, 0.25)
    assert len(bench.study) == count
    assert bench.study.check() == []


def odd(name: str) -> Callable[[Bench], Any]:
    def act(bench: Bench) -> None:
        before = set(bench.folder.iterdir())
        path = bench.folder / name
        study = Study(path, {"x": (0.0, 1.0)})
        study.tell(study.ask(), 0.5)
        assert set(bench.folder.iterdir()) - before == {path}
        assert path.is_file()
        assert Study(path).best.value == 0.5

    return act


def link(bench: Bench) -> None:
    (bench.folder / "link.db").symlink_to(bench.path)
    bench.open("link.db").tell(PENDING, 0.25)
    assert (bench.folder / "link.db").is_symlink()
    assert bench.study[PENDING].value == 0.25


def urls(bench: Bench) -> None:
    for place in (f"sqlite:///{bench.path}", f"sqlite:///{bench.path}?timeout=1"):
        assert Study(place)[TOLD].value == 0.5


ODD = [
    "a?mode=ro.db",
    "a%20b.db",
    "a#b.db",
    "größe.db",
    "file:x.db",
    "-x.db",
    "a;b&c=d",
]
POINTS = ["before it is stored", "halfway", "after it was stored"]
FORK = (needs_fork,)

SERVED = [
    *[
        Served(KILL, f"{what} {point}", killed(what, point), FORK)
        for what in ("ask", "tell")
        for point in POINTS
    ],
    Served(KILL, "while a report is written", killed_report, FORK),
    *[
        Served(KILL, f"a copy, {point}", killed_migration(point), FORK)
        for point in POINTS
    ],
    Served("writers and a reader at once", "threads", together),
    Served("stale lease", "of others", stale, FORK),
    Served("clock an hour back", "told and asked", hour_back),
    Served("fork after import", "a handle on both sides", forked, FORK),
    Served("a pickled study handle", "of a file", pickled),
    Served("a pickled study handle", "in memory", pickled_without_file),
    Served(FULL, "then free", full_then_free),
    *[Served(PATH, f"an odd name, {name}", odd(name)) for name in ODD],
    Served(PATH, "a link", link),
    Served(PATH, "a URL", urls),
]

ROWS = [*PLACES, *TROUBLES]
