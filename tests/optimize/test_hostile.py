"""Files and texts that were made to run code, to hang or to mark up a page."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import sqlite3
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from bokern import Study, choice, report
from bokern.ax import load
from bokern.cli import main
from bokern.errors import BokernError
from bokern.optimize.events import ROOT
from bokern.optimize.log import EventLog
from bokern.selection import Comparison
from bokern.selection.journal import Journal
from tests.optimize.releases import FILES

pytestmark = pytest.mark.integration
RELEASE = sorted(path for path in FILES.iterdir() if path.is_dir())[-1]
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}

ACTS = frozenset(
    {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"}
    | {"subprocess.Popen", "pickle.find_class", "ctypes.dlopen", "socket.connect"}
    | {"sqlite3.enable_load_extension", "sqlite3.load_extension", "shutil.rmtree"}
    | {"os.remove", "os.rename"}
)
"""What code that is run would do."""


class Watch:
    """Notes what is done in this process; a hook of Python's cannot be taken away."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None or event not in ACTS | {"open"}:
            return
        if event in ("os.remove", "os.rename", "open"):
            path = str(arguments[0])
            mode = arguments[1] if event == "open" else "w"
            writes = isinstance(mode, str) and set(mode) & set("wax+")
            inside = path.startswith((str(self.folder), "/dev/null"))
            if not writes or inside or isinstance(arguments[0], int):
                return
        self.seen.append(f"{event} {arguments!r:.200}")


WATCH = Watch()


class Code:
    """Runs code when it is unpickled."""

    def __init__(self, owned: Path) -> None:
        self.owned = str(owned)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.owned,)


@dataclass(frozen=True)
class Trap:
    """Something hostile.

    Args:
        name: What it is.
        make: Makes it in a folder; told the folder that code would make. What it
            returns is opened.
        use: Opens it.
        refused: Whether it must be refused.
    """

    name: str
    make: Callable[[Path, Path], Any]
    use: Callable[[Any], Any]
    refused: bool = True

    def __str__(self) -> str:
        return self.name


def run(*arguments: Any) -> Callable[[Any], Any]:
    """A command on the thing; refused if it says so in a line."""

    def use(thing: Any) -> None:
        code = main([str(thing if a is None else a) for a in arguments])
        if code:
            raise BokernError(f"exit code {code}")

    return use


def pickled(name: str) -> Callable[[Path, Path], Path]:
    def make(folder: Path, owned: Path) -> Path:
        path = folder / name
        path.write_bytes(pickle.dumps(Code(owned)))
        return path

    return make


def text(name: str, content: str) -> Callable[[Path, Path], Path]:
    """A file; ``{owned}`` in it is the folder that code would make."""

    def make(folder: Path, owned: Path) -> Path:
        path = folder / name
        path.write_text(content.replace("{owned}", str(owned)), encoding="utf-8")
        return path

    return make


CODE = "__import__('os').mkdir('{owned}')"
UNQUOTED = "exec(chr(105)+chr(109)+chr(112))"


def yaml_of(more: str) -> Callable[[Path, Path], Path]:
    return text("study.yaml", f"space: {{x: {{low: 0.0, high: 1.0}}}}\n{more}\n")


def logged(change: Callable[[dict[str, Any], Path], Any]) -> Any:
    """A study whose first event says something else, soundly chained."""

    def make(folder: Path, owned: Path) -> Path:
        log = Study(None, SQUARE)._ledger.log
        (event,) = log.read(0, ROOT)
        details = event.details()
        change(details, owned)
        path = folder / "run.db"
        EventLog(path, "study", create=True).write_copy([(0.0, "created", details)])
        return path

    return make


def in_problem(key: str, value: Any) -> Any:
    def change(details: dict[str, Any], owned: Path) -> None:
        found = json.loads(json.dumps(value).replace("{owned}", str(owned)))
        details["problem"][key] = found

    return logged(change)


def in_options(**options: Any) -> Any:
    def change(details: dict[str, Any], owned: Path) -> None:
        found = json.loads(json.dumps(options).replace("{owned}", str(owned)))
        details["options"].update(found)

    return logged(change)


def spelled(code: str) -> str:
    """Code without a quote, a dot or an underscore, which SymPy evaluates."""
    return f"exec({'+'.join(f'chr({ord(c)})' for c in code)})"


def in_snapshot(change: Callable[[dict[str, Any], str], Any]) -> Any:
    """A snapshot of Ax's with something else in it."""

    def make(folder: Path, owned: Path) -> Path:
        document = json.loads((RELEASE / "ax.json").read_text("utf-8"))
        change(document, spelled(f"import os; os.mkdir({str(owned)!r})"))
        path = folder / "ax.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return make


def objective(document: dict[str, Any], code: str) -> None:
    document["experiment"]["optimization_config"]["objective"]["expression"] = code


def quoted_objective(document: dict[str, Any], code: str) -> None:
    objective(document, CODE)


def tower(document: dict[str, Any], code: str) -> None:
    objective(document, "9**9**9**9**9*a")


def inequality(document: dict[str, Any], code: str) -> None:
    (found,) = document["experiment"]["search_space"]["parameter_constraints"]
    found["inequality"] = f"{code} <= 1"


def derived(document: dict[str, Any], code: str) -> None:
    document["experiment"]["search_space"]["parameters"].append(
        {
            "__type": "DerivedParameter",
            "name": "z",
            "parameter_type": {"__type": "ParameterType", "name": "FLOAT"},
            "expression_str": code,
        }
    )


def metric(document: dict[str, Any], code: str) -> None:
    document["experiment"]["optimization_config"]["objective"] = {
        "__type": "Objective",
        "metric": {"__type": "Metric", "name": code, "properties": {}},
        "minimize": True,
    }


def in_comparison(change: Callable[[dict[str, Any], str], Any]) -> Any:
    def make(folder: Path, owned: Path) -> Path:
        document = json.loads((RELEASE / "comparison.json").read_text("utf-8"))
        change(document, CODE.replace("{owned}", str(owned)))
        path = folder / "comparison.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return make


def structure(document: dict[str, Any], code: str) -> None:
    document["candidates"][0]["structure"] = {"family": code, "code": code}


def traced(document: dict[str, Any], code: str) -> None:
    attempt = {"structure": code, "parent": code, "move": code, "status": code}
    document["trace"] = [attempt]


def zipped(name: str, size: int) -> Callable[[Path, Path], Path]:
    def make(folder: Path, owned: Path) -> Path:
        path = folder / name
        with gzip.open(path, "wb", compresslevel=9) as file:
            for _ in range(size):
                file.write(bytes(2**20))
        return path

    return make


def archive(folder: Path, owned: Path) -> Path:
    """A file of torch's, which is a zip with a pickle in it."""
    path = folder / "run.db"
    torch.save(Code(owned), path)
    return path


def climbing(folder: Path, owned: Path) -> Path:
    path = folder / "trials.csv"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("../../owned", "x")
    return path


def array(folder: Path, owned: Path) -> Path:
    path = folder / "trials.csv"
    stream = io.BytesIO()
    np.save(stream, np.array([Code(owned)], dtype=object), allow_pickle=True)
    path.write_bytes(stream.getvalue())
    return path


def triggered(folder: Path, owned: Path) -> Path:
    """A study whose database changes what is written."""
    path = folder / "run.db"
    Study(path, SQUARE)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER t AFTER INSERT ON bokern_events BEGIN "
            "UPDATE bokern_events SET body = '{}' WHERE number = new.number; END"
        )
    connection.close()
    return path


def viewed(folder: Path, owned: Path) -> Path:
    path = folder / "run.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW bokern_events AS SELECT load_extension('x') AS number"
        )
    connection.close()
    return path


def telling(name: str) -> Callable[[Path, Path], Path]:
    def make(folder: Path, owned: Path) -> Path:
        Study(folder / name, SQUARE)
        return folder / name

    return make


LAUGHS = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
)
NEW = run("new", None)
OPEN = Study
READ = Comparison.from_json


def journal(path: Path) -> None:
    Journal(path, {"kind": "test"}).close()


def bring(path: Path) -> None:
    study = Study(path.with_name("into.db"), SQUARE)
    assert len(study) == 0
    run("import", path.with_name("into.db"), path)(path)


def tell(*more: str) -> Callable[[Path], None]:
    return run("tell", None, *more)


TRAPS = [
    Trap("a pickle for a study", pickled("run.db"), OPEN),
    Trap("a pickle for a comparison", pickled("comparison.json"), READ),
    Trap("a pickle for a snapshot", pickled("ax.json"), load),
    Trap("a pickle for a table", pickled("trials.csv"), bring),
    Trap("a pickle for a configuration", pickled("study.yaml"), NEW),
    Trap("a pickle for a journal", pickled("search.jsonl"), journal),
    Trap("a file of torch's for a study", archive, OPEN),
    Trap("an array of objects for a table", array, bring),
    Trap("an archive that climbs for a table", climbing, bring),
    Trap(
        "YAML that applies",
        yaml_of(f"seed: !!python/object/apply:eval [{CODE!r}]"),
        NEW,
    ),
    Trap(
        "YAML that makes", yaml_of("seed: !!python/object/new:os.mkdir [{owned}]"), NEW
    ),
    Trap("YAML that names", yaml_of("seed: !!python/name:os.mkdir"), NEW),
    Trap("YAML that imports", yaml_of("seed: !!python/module:antigravity"), NEW),
    Trap("YAML that grows", text("study.yaml", LAUGHS), NEW),
    Trap("YAML that is deep", text("study.yaml", "[" * 10**5), NEW),
    Trap("a constraint in YAML", yaml_of(f'constraints: ["{CODE} <= 1"]'), NEW),
    Trap("a structure in YAML", yaml_of(f'structures: "{CODE}"'), NEW),
    Trap(
        "a command, when a study is begun",
        yaml_of("command: mkdir {owned}"),
        NEW,
        False,
    ),
    Trap("a function, too", yaml_of("function: this.py:f"), NEW, False),
    Trap("a constraint in a log", in_problem("constraints", [f"{CODE} <= 1"]), OPEN),
    Trap(
        "a bound of an outcome in a log",
        in_problem("outcome_constraints", [f"{UNQUOTED} <= 1"]),
        OPEN,
    ),
    Trap("a direction in a log", in_problem("direction", [[CODE, CODE]]), OPEN),
    Trap("a class in a log", in_problem("space", [["x", {"__type": "eval"}]]), OPEN),
    Trap("a structure in a log", in_options(structures=[CODE]), OPEN),
    Trap("an acquisition in a log", in_options(acquisition=CODE), OPEN),
    Trap("options in a log", in_options(__class__={"__reduce__": CODE}), OPEN),
    Trap("a trigger in a database", triggered, OPEN),
    Trap("a view in a database", viewed, OPEN),
    Trap("an objective in a snapshot", in_snapshot(objective), load),
    Trap("an objective with quotes", in_snapshot(quoted_objective), load),
    Trap("a power tower in a snapshot", in_snapshot(tower), load),
    Trap("a constraint in a snapshot", in_snapshot(inequality), load),
    Trap("a derived parameter in a snapshot", in_snapshot(derived), load),
    Trap("a metric in a snapshot", in_snapshot(metric), load),
    Trap("a structure in a comparison", in_comparison(structure), READ),
    Trap("a trace in a comparison", in_comparison(traced), READ),
    Trap("a zip bomb for a table", zipped("trials.csv", 300), bring),
    Trap("a zip bomb for a comparison", zipped("comparison.json", 60), READ),
    Trap("a zip bomb for a snapshot", zipped("ax.json", 60), load),
    Trap("a zip bomb for a configuration", zipped("study.yaml", 60), NEW),
    Trap("JSON that is deep", text("comparison.json", '{"a":' * 10**5), READ),
    Trap("a snapshot that is deep", text("ax.json", '{"a":' * 10**5), load),
    Trap("code for a value", telling("run.db"), tell("0", CODE)),
    Trap(
        "code for a point", telling("run.db"), tell(f'{{"x": "{CODE}", "y": 0}}', "1")
    ),
    Trap("a path for a name", telling("run.db"), run("status", None, "--name", "../x")),
    Trap("a path for a report", telling("run.db"), run("report", None, "/proc/x/r")),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("trap", TRAPS, ids=str)
def test_no_code_is_run(trap, tmp_path, capsys):
    owned = tmp_path / "owned"
    thing = trap.make(tmp_path, owned)
    before = thing.read_bytes()
    WATCH.folder, WATCH.seen = tmp_path, []
    start = time.process_time()
    try:
        if trap.refused:
            with pytest.raises(BokernError) as caught:
                trap.use(thing)
            assert len(str(caught.value)) < 6000
        else:
            trap.use(thing)
    finally:
        WATCH.folder = None
    assert WATCH.seen == []
    assert not owned.exists()
    assert thing.read_bytes() == before
    assert time.process_time() - start < 10
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert "unexpected" not in said.err


def test_the_watch_sees(tmp_path):
    WATCH.folder, WATCH.seen = tmp_path, []
    try:
        pickle.loads(pickle.dumps(Code(tmp_path / "owned")))
        os.system("true")
    finally:
        WATCH.folder = None
    assert [seen.split()[0] for seen in WATCH.seen] == [
        "pickle.find_class",
        "os.system",
    ]
    assert (tmp_path / "owned").exists()


def test_there_are_enough():
    assert len(TRAPS) >= 20
    assert len(set(map(str, TRAPS))) == len(TRAPS)


# -- pages -------------------------------------------------------------------------

LIVE = frozenset({"script", "iframe", "object", "embed", "img", "svg", "a", "form"})
LIVE |= {"link", "base", "video", "audio", "input", "button"}

MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><iframe src=javascript:alert(1)>',
    "</script><svg onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<b>",
    "'; alert(1); //",
]


class Page(HTMLParser):
    """Counts what is alive on a page."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.live: list[str] = []
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LIVE:
            self.live.append(tag)
        for name, value in attrs:
            if name.startswith("on") or "javascript:" in (value or ""):
                self.live.append(f"{tag} {name}")


def told(names):
    """A study that says such things wherever a user may say something."""
    one, two, three, four, *_ = names
    space = {one: (0.0, 1.0), two: choice(three, four), "n": [1, 2]}
    study = Study(None, space, initial=3)
    for _ in range(2):
        study.tell(study.ask(), 1.0)
    study.fail(study.ask(), " ".join(names))
    return study


@pytest.mark.parametrize("turn", range(0, 8, 2))
def test_names_never_become_markup(tmp_path, turn):
    names = MARKUP[turn:] + MARKUP[:turn]
    plain = [f"word {i}" for i in range(len(names))]
    pages = []
    for number, words in enumerate((names, plain)):
        study = told(words)
        place = tmp_path / f"{number}.html"
        page = report(study.result(), path=place, title=words[0]).read_text("utf-8")
        pages.append(Page(page).live)
        assert Page(study.result()._repr_html_()).live == []
        assert Page(study.trials.to_html()).live == []
    assert pages[0] == pages[1]
    assert "49" not in page.partition("<title>")[2][:200]


def test_markup_in_a_table_that_was_imported(tmp_path):
    study = Study(None, {"x": (0.0, 1.0), "k": choice(*MARKUP)}, initial=3)
    table = pd.DataFrame({"x": 0.5, "k": MARKUP, "value": range(len(MARKUP))})
    table["status"] = ["failed", *["completed"] * (len(MARKUP) - 1)]
    table["reason"] = MARKUP[1]
    study.add(table)
    plain = Page(
        report(told(list("abcd")).result(), path=tmp_path / "a.html").read_text()
    )
    page = Page(report(study.result(), path=tmp_path / "b.html").read_text("utf-8"))
    assert set(page.live) == set(plain.live)
