"""Studies from the command line."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pandas as pd
import pytest

from bokern import Study, choice
from bokern.ax import load
from bokern.cli.shell import ShellCommand
from bokern.errors import InputError

pytestmark = pytest.mark.integration
SPACE = """\
space:
  x: {low: 0.0, high: 1.0}
  lr: {low: 1e-4, high: 0.1, log: true}
  layers: {values: [1, 2, 4]}
  kind: {choice: [a b, "it's"]}
  epochs: 10
initial: 3
structures: Matern(2.5)
"""
SCRIPT = """\
import json, os, sys
p = json.loads(os.environ["BOKERN_PARAMETERS"])
assert [str(v) for v in p.values()] == sys.argv[1:], sys.argv
print("some words")
print(p["x"] + p["layers"])
"""
COMMAND = (
    f"command: {sys.executable} f.py {{x}} {{lr}} {{layers}} {{kind}} {{epochs}}\n"
)


@pytest.fixture
def config(tmp_path):
    """Writes a configuration."""

    def write(text=SPACE + COMMAND + "budget: 4\n"):
        (tmp_path / "f.py").write_text(SCRIPT)
        (tmp_path / "study.yaml").write_text(text)
        return tmp_path / "study.yaml"

    return write


@pytest.fixture
def stored(tmp_path):
    """A study of two trials told and one pending."""
    place = tmp_path / "run.db"
    study = Study(place, {"x": (0.0, 1.0), "k": [1, 2]}, initial=3)
    study.tell(study.ask(), 0.5)
    study.tell(study.ask(), 0.25, 0.1)
    study.ask()
    return place


def test_a_command_for_each_trial(bokern, config, tmp_path):
    path = config()
    code, out, err = bokern("optimize", path, "--budget", 2)
    assert (code, err) == (0, "")
    assert out.startswith("best value ")
    study = Study(tmp_path / "study.db")
    assert len(study) == 2
    assert study[0].value == study[0].parameters["x"] + study[0].parameters["layers"]
    code, _, err = bokern("optimize", path)
    assert code == 2
    assert "exists: go on with it by 'bokern optimize --resume'" in err
    code, out, _ = bokern("optimize", path, "--resume", "--parallel", 2, "--json")
    assert code == 0
    assert len(json.loads(out)["trials"]) == 4


def test_a_function(bokern, config, tmp_path):
    path = config(SPACE + "function: g.py:loss\nbudget: 3\ndirection: maximize\n")
    (tmp_path / "g.py").write_text("def loss(p):\n    return p['x'], 0.1\n")
    assert bokern("optimize", path)[0] == 0
    study = Study(tmp_path / "study.db")
    assert study.best.value == max(study.trials["x"])
    assert study.best.sems == {"value": 0.1}
    (tmp_path / "g.py").write_text("OFF = 2\ndef loss(p):\n    return p['x'] - OFF\n")
    arguments = ("--resume", "--parallel", 2, "--budget", 5)
    assert bokern("optimize", path, *arguments)[0] == 0
    assert (study.trials["value"][3:] == study.trials["x"][3:] - 2).all()


def test_several_outcomes_from_a_command(bokern, config, tmp_path):
    text = "direction: {loss: minimize}\noutcome_constraints: ['cost <= 3']\n"
    command = json.dumps("""echo '{{"loss": {x}, "cost": [{layers}, 0.5]}}'""")
    path = config(SPACE + text + f"command: {command}\nbudget: 3\n")
    code, _, err = bokern("optimize", path)
    assert (code, err) == (0, "")
    trial = Study(tmp_path / "study.db")[0]
    assert trial.values == {
        "loss": trial.parameters["x"],
        "cost": trial.parameters["layers"],
    }
    assert trial.sems == {"loss": None, "cost": 0.5}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("exit 3", "exit code 3"),
        ("echo oh no >&2; exit 1", "exit code 1: oh no"),
        ("true", "printed nothing"),
        ("echo words", "no number and no JSON object: 'words'"),
        ("echo nan", "no number and no JSON"),
        ("echo 1e999", "finite number"),
        ("echo '{{\"loss\": 1}}'", "unknown outcomes"),
        ("sleep 60", "stopped at its time limit of 0.5 s"),
        ("sleep 60 & wait", "stopped at its time limit of 0.5 s"),
    ],
)
def test_commands_that_fail(bokern, config, tmp_path, command, reason):
    path = config(
        SPACE + f"time_limit: 0.5\nbudget: 1\ncommand: {json.dumps(command)}\n"
    )
    start = time.perf_counter()
    code, out, _ = bokern("optimize", path)
    assert code == 1
    assert "none of 1 trials succeeded" in out
    assert reason in Study(tmp_path / "study.db")[0].reason
    assert time.perf_counter() - start < 30


def test_parameters_are_quoted_for_the_shell(tmp_path):
    command = ShellCommand("echo {a} {b} {{x}}", ["a", "b"], None, str(tmp_path))
    assert (
        command.command({"a": "$(touch no)", "b": 1.5}) == "echo '$(touch no)' 1.5 {x}"
    )
    touching = ShellCommand("true {a}; echo 1", ["a"], None, str(tmp_path))
    assert touching({"a": "; touch no"}) == 1.0
    assert list(tmp_path.iterdir()) == []
    for template in ("echo {c}", "echo {a:>3}", "echo {a!r}", "echo {a", "echo {}"):
        with pytest.raises(InputError, match="command"):
            ShellCommand(template, ["a"], None, ".")


def _hear_interrupts() -> None:
    """What a shell takes from the commands that it runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_an_interruption_ends_the_commands_and_can_be_resumed(config, tmp_path):
    path = config(SPACE + "budget: 2\ncommand: echo $$ >> pids; sleep 60; echo {x}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "bokern", "optimize", path, "--parallel", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_hear_interrupts,
    )
    pids = tmp_path / "pids"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        pids.exists() and len(pids.read_text().split()) == 2
    ):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "--resume' goes on" in err
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    study = Study(tmp_path / "study.db")
    assert [t.id for t in study.pending] == [0, 1]
    assert study._ledger.reissued(1.0) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "says nothing of a study"),
        ("space: 3", "needs a space"),
        ("space: {x: [0, 1]}", "parameter 'x': cannot read"),
        ("space: {x: {low: 0}}", "parameter 'x': cannot read"),
        ("spaces: {}", "unknown keys ['spaces']"),
        ("space: {x: {low: 0.0, high: 1.0}}\nbudget: many", "budget"),
        ("space: {x: {low: 0.0, high: 1.0}}", "a number of trials"),
        ("space: {x: {low: 0.0, high: 1.0}}\nbudget: 3", "neither 'command"),
        (
            "space: {x: {low: 0.0, high: 1.0}}\nbudget: 3\ncommand: echo {y}",
            "{y}, which is no parameter",
        ),
        (
            "space: {x: {low: 0.0, high: 1.0}}\nbudget: 3\ncommand: a\nfunction: b",
            "a command and a function",
        ),
        (
            "space: {x: {low: 0.0, high: 1.0}}\nbudget: 3\nfunction: none.py:f",
            "cannot be loaded",
        ),
        (
            "space: {x: {low: 0.0, high: 1.0}}\nbudget: 3\nfunction: f",
            "file.py:name",
        ),
        ("space: &a {x: {low: 0.0, high: 1.0}}\ndirection: *a", "references"),
        ("!!python/object/apply:os.system ['touch no']", "no YAML that can be read"),
        ("a: [", "no YAML that can be read"),
        ("\udc00", "cannot be read|no YAML"),
        ("- 1", "says nothing of a study"),
    ],
)
def test_configurations_that_are_refused(bokern, tmp_path, text, words):
    path = tmp_path / "study.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    code, out, err = bokern("optimize", path)
    assert (code, out) == (2, "")
    assert any(word in err for word in words.split("|")), err
    assert "Traceback" not in err
    assert {p.name for p in tmp_path.iterdir()} == {"study.yaml"}


def test_a_configuration_that_is_not_there(bokern, tmp_path):
    code, _, err = bokern("optimize", tmp_path / "none.yaml")
    assert code == 2
    assert "No such file" in err


def test_new_ask_and_tell(bokern, config, tmp_path):
    code, out, _ = bokern("new", config(SPACE))
    assert code == 0
    place = tmp_path / "study.db"
    code, out, _ = bokern("ask", place, "--count", 2)
    first, second = map(json.loads, out.splitlines())
    assert (first["trial"], second["trial"]) == (0, 1)
    assert first["parameters"]["epochs"] == 10
    assert bokern("tell", place, 0, 0.5) == (0, "trial 0 is completed\n", "")
    assert bokern("tell", place, 1, "--failed", "burst")[1] == "trial 1 is failed\n"
    point = json.dumps({**first["parameters"], "x": 0.5})
    code, out, _ = bokern("tell", place, point, -0.5, "--sem", 0, "--json")
    assert json.loads(out)["values"] == {"value": -0.5}
    code, out, err = bokern("tell", tmp_path / "none.db", 0, 1.0)
    assert (code, out) == (1, "")
    assert "there is no study" in err
    assert len(Study(place)) == 3


def test_status_and_best(bokern, stored):
    code, out, _ = bokern("status", stored)
    assert code == 0
    assert out.startswith(
        "3 trials: 2 completed, 0 failed, 1 pending\n  pending 2: x = "
    )
    assert "best: value = 0.25 at x = " in out
    document = json.loads(bokern("status", stored, "--json")[1])
    assert (document["completed"], document["pending_trials"]) == (2, [2])
    assert document["best"][0]["standard_errors"] == {"value": 0.1}
    assert bokern("best", stored)[1].startswith("value = 0.25 at x = ")
    assert json.loads(bokern("best", stored, "--json")[1])["trial"] == 1


def test_nothing_is_best_yet(bokern, tmp_path):
    Study(tmp_path / "run.db", {"x": (0.0, 1.0)})
    code, _, err = bokern("best", tmp_path / "run.db")
    assert code == 2
    assert "none was completed yet" in err


def test_leaderboard_and_report(bokern, tmp_path):
    place = tmp_path / "run.db"
    assert bokern("leaderboard", stored_with_structures(place))[0] == 0
    out = bokern("leaderboard", place)[1]
    assert "RBF()" in out
    assert "Matern(2.5)" in out
    rows = json.loads(bokern("leaderboard", place, "--json")[1])
    assert sum(row["probability"] for row in rows) == pytest.approx(1.0)
    assert max(row["gap"] for row in rows) == 0.0
    code, out, _ = bokern("report", place, tmp_path / "report.html")
    assert code == 0
    page = (tmp_path / "report.html").read_text()
    assert "RBF()" in page
    assert bokern("report", place, tmp_path)[0] == 2


def stored_with_structures(place):
    study = Study(place, {"x": (0.0, 1.0)}, structures=["RBF()", "Matern(2.5)"])
    for _ in range(7):
        trial = study.ask()
        study.tell(trial, (trial.parameters["x"] - 0.3) ** 2)
    return place


def test_no_structures_yet(bokern, stored):
    assert bokern("leaderboard", stored)[1] == "no structures were compared yet\n"


def test_export_and_import(bokern, stored, tmp_path):
    table = tmp_path / "trials.csv"
    assert bokern("export", stored, table)[1] == f"3 trials written to {table}\n"
    assert pd.read_csv(table)["value"].tolist()[:2] == [0.5, 0.25]
    other = tmp_path / "other.db"
    Study(other, {"x": (0.0, 1.0), "k": [1, 2]})
    assert bokern("import", other, table)[1] == "2 trials added, 0 of them failed\n"
    assert Study(other).trials["value"].tolist() == [0.5, 0.25]
    document = tmp_path / "trials.json"
    bokern("export", stored, document)
    assert [t["status"] for t in json.loads(document.read_text())["trials"]] == [
        "completed",
        "completed",
        "pending",
    ]
    snapshot = tmp_path / "ax.json"
    assert bokern("export", stored, snapshot, "--form", "ax")[0] == 0
    assert len(load(snapshot)._experiment.trials) == 3
    table.write_text("x,k\n0.5,1\n")
    code, _, err = bokern("import", other, table)
    assert code == 2
    assert "lacks the columns ['value']" in err


def test_texts_that_look_like_numbers(bokern, tmp_path):
    place = tmp_path / "run.db"
    Study(place, {"k": choice("1", "2", "x"), "y": (0.0, 1.0)})
    table = tmp_path / "trials.csv"
    table.write_text("k,y,value\n1,0.5,1\n2,0.25,2\n")
    assert bokern("import", place, table)[0] == 0
    assert Study(place).trials["k"].tolist() == ["1", "2"]


def test_check_and_repair(bokern, stored, tmp_path):
    assert bokern("check", stored) == (0, "sound: 6 events\n", "")
    with sqlite3.connect(stored) as connection:
        connection.execute("UPDATE bokern_events SET body = '{}' WHERE number = 3")
    connection.close()
    copy = tmp_path / "copy.db"
    code, out, _ = bokern("check", stored, "--repair", copy)
    assert code == 1
    assert out == (
        "event 3: changed after it was written\n"
        f"5 events written to {copy}, 1 lost: 3\n"
    )
    assert bokern("check", copy)[0] == 0
    document = json.loads(bokern("check", stored, "--json")[1])
    assert document == {
        "sound": False,
        "damages": [[3, "changed after it was written"]],
    }
    code, _, err = bokern("status", stored)
    assert code == 1
    assert "'bokern check' shows where" in err
    (tmp_path / "cut.db").write_bytes(stored.read_bytes()[:5000])
    code, out, _ = bokern("check", tmp_path / "cut.db")
    assert code == 1
    assert "cannot be" in out
    assert bokern("check", tmp_path / "none.db")[0] == 1
