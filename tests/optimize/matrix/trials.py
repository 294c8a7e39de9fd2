"""Trials: which are told, and at which points."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
import torch

from bokern import Study, minimize
from bokern.errors import (
    BoundsError,
    DataError,
    ExhaustedError,
    InputError,
    SpaceError,
    TrialError,
)
from tests.optimize.matrix.row import (
    EXPIRED,
    FAILED,
    POINT,
    SPACE,
    TOLD,
    Bench,
    Row,
    Served,
    typed_json,
)

HUGE = 10**400
ROW = {"parameters": POINT, "values": 1.0}


def state(
    item: str, name: str, trial: Any, *says: str, typed: Any = None, only: str = ""
) -> list[Row]:
    """A trial that can be neither told nor failed."""
    actions = {
        "tell": lambda bench: bench.study.tell(trial, 1.0),
        "fail": lambda bench: bench.study.fail(trial),
    }
    commands = {
        "tell": lambda bench: ["tell", bench.path, "--", typed, 1.0],
        "fail": lambda bench: ["tell", bench.path, "--failed", "x", "--", typed],
    }
    return [
        Row(
            item,
            f"{name}, {how}",
            says,
            action,
            None if typed is None else commands[how],
            error=TrialError,
        )
        for how, action in actions.items()
        if only in ("", how)
    ]


NUMBER = ("a trial, its number or a dictionary of parameters",)
TYPED = ("the number of a trial, or parameters as JSON",)


def number(name: str, trial: Any, typed: str) -> list[Row]:
    """Something that is no trial."""
    return [
        *state("unknown id", name, trial, *NUMBER, f"got {trial!r}"),
        Row(
            "unknown id",
            f"{name}, typed",
            (*TYPED, f"got '{typed}'"),
            None,
            lambda bench: ["tell", bench.path, "--", typed, 1.0],
        ),
    ]


STATES = [
    *state(
        "told twice",
        "told before",
        TOLD,
        "trial 0 is completed already with {'value': 0.5}",
        "what is stored stays",
        "tell its parameters",
        typed=TOLD,
    ),
    *state(
        "tell after failure or an expired lease",
        "failed before",
        FAILED,
        "trial 1 is failed already",
        "what is stored stays",
        "tell its parameters",
        typed=FAILED,
    ),
    *state("unknown id", "99", 99, "no trial 99", "has 4, numbered up to 3", typed=99),
    *state("unknown id", "-1", -1, "no trial -1", "numbered up to 3", typed=-1),
    *state("unknown id", "huge", HUGE, "no trial", "numbered up to 3", typed=HUGE),
    *number("a word", "a", "a"),
    *number("None", None, "None"),
    *number("bool", True, "True"),
    *number("float", 1.0, "1.0"),
    Row(
        "unknown id",
        "by index",
        ("no trial 99", "numbered up to 3"),
        lambda bench: bench.study[99],
        error=TrialError,
    ),
    Row(
        "unknown id",
        "renewed",
        ("no trial 99", "numbered up to 3"),
        lambda bench: bench.study.renew(99, 1.0),
        error=TrialError,
    ),
]


def point(
    item: str,
    name: str,
    given: Any,
    *says: str,
    error: type = SpaceError,
    typed: str | None = None,
) -> list[Row]:
    """A point that is refused wherever one can be given.

    Args:
        item: Of the matrix.
        name: What is wrong.
        given: The point.
        says: What each message must contain.
        error: What is raised.
        typed: How it is typed, if not as JSON of ``given``; empty if it cannot be.
    """
    is_point = isinstance(given, dict)
    text = typed_json(given) if typed is None and is_point else typed
    place = "new.db"
    ways = {
        "attached": lambda bench: bench.study.attach(given),
        "run first": lambda bench: bench.study.run(lambda p: 1.0, 3, first=[given]),
        "initial": lambda bench: minimize(
            lambda p: 1.0, SPACE, 3, initial=[given], study=bench.folder / place
        ),
    }
    if is_point:
        row = {"parameters": given, "values": 1.0}
        ways |= {
            "told": lambda bench: bench.study.tell(given, 1.0),
            "failed": lambda bench: bench.study.fail(given),
            "added": lambda bench: bench.study.add([ROW, row]),
        }
    named = {"added": "row 1: ", "initial": "initial point 0: "}
    typed_as = {} if not text else {"told": ["tell", "--", text, 1.0]}

    def cli(command: list[Any] | None) -> Any:
        if command is None:
            return None
        return lambda bench: [command[0], bench.path, *command[1:]]

    return [
        Row(
            item,
            f"{name}, {way}",
            (*says, *filter(None, [named.get(way)])),
            act,
            cli(typed_as.get(way)),
            error=error,
        )
        for way, act in ways.items()
    ]


def at(**values: Any) -> dict[str, Any]:
    return {**POINT, **values}


MISSING = "attached with missing, extra or ill-typed parameters"
LIES = ("'x' lies in [0, 1]", "put the point into the space")
WITHIN = (*LIES[1:], "'n' lies in [1, 5]")

POINTS = [
    *point("attached out of bounds", "above", at(x=1.5), *LIES, "got 1.5"),
    *point("attached out of bounds", "below", at(x=-1e-9), *LIES, "got -1e-09"),
    *point("attached out of bounds", "whole number", at(n=6), *WITHIN, "got 6"),
    *point("attached out of bounds", "inf", at(x=math.inf), *LIES, "got inf"),
    *point("attached out of bounds", "10**400", at(x=HUGE), *LIES, "got 1000"),
    *point("attached out of bounds", "choice", at(k="c"), "'k' is one of", "got 'c'"),
    *point("attached out of bounds", "fixed", at(fixed=4), "'fixed' is", "3", "got 4"),
    *point("attached with NaN", "range", at(x=math.nan), *LIES, "got nan"),
    *point("attached with NaN", "whole number", at(n=math.nan), *WITHIN, "got nan"),
    *point("attached with NaN", "choice", at(k=math.nan), "'k' is one of", "got nan"),
    *point(MISSING, "missing", {"x": 0.5}, "exactly", "missing: ['n', 'k']"),
    *point(MISSING, "extra", at(z=1), "exactly the parameters", "unknown: ['z']"),
    *point(MISSING, "no text", {**POINT, 1: 2}, "unknown: [1]", typed=""),
    *point(MISSING, "empty", {}, "exactly", "missing: ['x', 'n', 'k']"),
    *point(MISSING, "a number as text", at(x="0.5"), *LIES, "got '0.5'"),
    *point(MISSING, "None", at(x=None), *LIES, "got None"),
    *point(MISSING, "bool", at(x=True), *LIES, "got True"),
    *point(MISSING, "complex", at(x=1j), *LIES, "got 1j", typed=""),
    *point(MISSING, "a list", at(x=[0.5]), *LIES, "got [0.5]"),
    *point(MISSING, "two numbers", at(x=np.ones(2)), *LIES, "got array", typed=""),
    *point(MISSING, "fraction", at(n=1.5), "'n' is a whole number", "got 1.5", "put"),
    *point(MISSING, "ill-typed choice", at(k=1), "'k' is one of ['a', 'b']", "got 1"),
    *point(MISSING, "a choice as list", at(k=["a"]), "'k' is one of", "got ['a']"),
    *point(MISSING, "a list for a point", [0.5, 1], "by name", "got [0.5, 1]"),
    *point(MISSING, "a text for a point", "x", "by name", "got 'x'"),
    *point(MISSING, "None for a point", None, "by name", "got None"),
    Row(
        MISSING,
        "a parameter twice",
        ("'x' stands twice",),
        None,
        lambda bench: ["tell", bench.path, '{"x": 0, "n": 2, "x": 1}', 1.0],
    ),
    Row(
        MISSING,
        "no JSON",
        ("parameters as JSON", "such as", "got '{'x': 1}'"),
        None,
        lambda bench: ["tell", bench.path, "{'x': 1}", 1.0],
    ),
    Row(
        MISSING,
        "JSON without end",
        ("parameters as JSON", "such as"),
        None,
        lambda bench: ["tell", bench.path, '{"x":' * 100_000, 1.0],
    ),
    *[
        Row(
            MISSING,
            f"{what} given {given!r}",
            (f"{what}= expects a list of dictionaries", "'x'", repr(given)),
            act,
            error=SpaceError,
        )
        for given in (3.5, "x", None)
        for what, act in (
            ("first", lambda bench, g=given: bench.study.run(len, 3, first=g)),
            ("initial", lambda bench, g=given: minimize(len, SPACE, 3, initial=g)),
        )
        if not (what == "initial" and given is None)
    ],
    Row(
        "attached out of bounds",
        "breaks a constraint",
        ("breaks '1.0*x + 1.0*y <= 1.0'", "'x': 0.8", "where the constraints are kept"),
        lambda bench: Study(
            None, {"x": (0.0, 1.0), "y": (0.0, 1.0)}, constraints=["x + y <= 1"]
        ).attach({"x": 0.8, "y": 0.8}),
        error=BoundsError,
    ),
    Row(
        "attached out of bounds",
        "an initial point breaks a constraint",
        ("initial point 1", "breaks '1.0*x <= 0.5'"),
        lambda bench: minimize(
            lambda x: x,
            {"x": (0.0, 1.0)},
            5,
            initial=[{"x": 0.1}, {"x": 0.9}],
            constraints="x <= 0.5",
            study=bench.folder / "new.db",
        ),
        error=BoundsError,
    ),
]

PAST = "attached with NaN"


def past(name: str, row: Any, *says: str, error: type = DataError) -> Row:
    """A past trial that is refused, with all that were to be added with it."""
    return Row(
        PAST,
        f"past trial {name}",
        ("row 1: ", *says),
        lambda bench: bench.study.add([ROW, row]),
        error=error,
    )


ADDED = [
    past("with NaN", {**ROW, "values": math.nan}, "finite number as value, got nan"),
    past("without value", {"parameters": POINT}, "'reason' of a failure", "add"),
    past("without parameters", {"values": 1.0}, "'parameters'", "{'values': 1.0}"),
    past("no dictionary", 3, "'parameters'", "got 3"),
    past("with a value and a reason", {**ROW, "reason": "x"}, "not both", "'x'"),
    past("with sem < 0", {**ROW, "sems": -1}, "0 or more, got -1"),
    past("with an unknown outcome", {**ROW, "values": {"z": 1}}, "['z']", "['value']"),
]


def counted(name: str, count: Any, *says: str, typed: Any = None) -> Row:
    return Row(
        "ask 0, −1, more than the space holds",
        name,
        says,
        lambda bench: bench.study.ask(count),
        None
        if typed is None
        else lambda bench: ["ask", bench.path, f"--count={typed}"],
        typed=None if typed is None else ("--count", "at least 1", f"got '{typed}'"),
        error=InputError,
    )


ASKED = [
    counted("0", 0, "1 or more", "got 0", typed=0),
    counted("-1", -1, "1 or more", "got -1", typed=-1),
    counted("1.5", 1.5, "1 or more", "got 1.5", typed=1.5),
    counted("True", True, "1 or more", "got True", typed="True"),
    counted("'3'", "3", "1 or more", "got '3'"),
    Row(
        "ask 0, −1, more than the space holds",
        "more than the space holds",
        ("7 trials were asked for", "the space has 2 points", "ask for fewer"),
        lambda bench: bench.open("finite.db").ask(7),
        lambda bench: ["ask", bench.folder / "finite.db", "--count", 7],
        error=InputError,
    ),
    Row(
        "ask on an exhausted discrete space",
        "all were told",
        ("every point of the space has been tried", "none is left", "wider space"),
        lambda bench: bench.open("finite.db").ask(),
        lambda bench: ["ask", bench.folder / "finite.db"],
        error=ExhaustedError,
    ),
    *[
        Row(
            "tell after failure or an expired lease",
            f"a lease of {name}",
            ("lease=", "seconds > 0", f"got {lease!r}"[:40]),
            lambda bench, lease=lease: bench.study.ask(lease=lease),
            None
            if typed is None
            else lambda bench, typed=typed: ["ask", bench.path, f"--lease={typed}"],
            typed=("--lease", "seconds above 0", f"got '{typed}'"),
            error=InputError,
        )
        for name, lease, typed in (
            ("0", 0, "0"),
            ("-1", -1, "-1"),
            ("NaN", math.nan, "nan"),
            ("text", "1", "a"),
            ("True", True, None),
        )
    ],
]


def expired(bench: Bench) -> None:
    """Whoever comes first with a value is believed."""
    assert bench.study.tell(EXPIRED, 0.7).value == 0.7
    assert bench.study.ask().id == EXPIRED + 1


def expired_and_told(bench: Bench) -> None:
    again = bench.study.ask(lease=60.0)
    assert (again.id, again.attempt) == (EXPIRED, 2)
    bench.study.tell(EXPIRED, 0.7)
    with pytest.raises(TrialError, match=r"already with {'value': 0.7}"):
        bench.study.tell(again, 0.8)
    assert bench.open("run.db")[EXPIRED].value == 0.7


def duplicates(bench: Bench) -> None:
    study = Study(bench.folder / "new.db", {"x": (0.0, 1.0)}, initial=3)
    for value in (0.1, 0.9, 0.5, 0.5):
        study.tell({"x": 0.5}, value)
    study.tell({"x": 0.25}, 0.2)
    study.tell({"x": 0.75}, 0.3)
    assert study.trials["value"].tolist()[:4] == [0.1, 0.9, 0.5, 0.5]
    assert study.best.value == 0.1
    assert study.ask().parameters["x"] != 0.5


def duplicates_without_noise(bench: Bench) -> None:
    study = Study(
        bench.folder / "new.db", {"x": (0.0, 1.0)}, initial=3, structures="Matern(2.5)"
    )
    for value in (0.1, 0.9, 0.5, 0.5):
        study.tell({"x": 0.5}, value, 0.0)
    study.tell({"x": 0.25}, 0.2, 0.0)
    assert 0.0 <= study.ask().parameters["x"] <= 1.0


def taken(given: dict[str, Any], **as_stored: Any) -> Any:
    def act(bench: Bench) -> None:
        trial = bench.study.attach(given)
        assert dict(trial.parameters) == {**POINT, "fixed": 3, **as_stored}
        for name, value in trial.parameters.items():
            assert type(value) is type({"fixed": 3, **POINT}[name])
        assert bench.open("run.db")[trial.id].parameters == trial.parameters
        place = bench.folder / "new.db"
        found = minimize(lambda p: p["x"], SPACE, 1, initial=[given], study=place)
        assert found.best_parameters == dict(trial.parameters)

    return act


def long_lease(bench: Bench) -> None:
    held = bench.study.ask(lease=math.inf)
    assert held.id == EXPIRED
    for lease in (math.inf, 10**400, np.float32(1e30), np.int64(2**62)):
        trial = bench.study.attach(POINT, lease=lease)
        bench.study.renew(trial, lease)
    assert bench.study.ask(lease=60.0).id == trial.id + 1


def exhausted(bench: Bench) -> None:
    place = bench.folder / "new.db"
    start = time.perf_counter()
    found = minimize(lambda m: 1 / (m - 2), {"m": [1, 2, 3]}, 9, study=place)
    assert sorted(found.trials["m"]) == [1, 2, 3]
    assert "no point of the space is left" in found.notes[0]
    assert time.perf_counter() - start < 30


SERVED = [
    Served("tell after failure or an expired lease", "expired", expired),
    Served("tell after failure or an expired lease", "and told", expired_and_told),
    Served("tell after failure or an expired lease", "endless leases", long_lease),
    Served("duplicate points with different y", "noise unknown", duplicates),
    Served("duplicate points with different y", "no noise", duplicates_without_noise),
    Served(MISSING, "fixed ones may be left out", taken(POINT)),
    Served(MISSING, "fixed ones may be named", taken({**POINT, "fixed": 3})),
    Served(MISSING, "in any order", taken(dict(reversed(POINT.items())))),
    Served(MISSING, "1 for 1.0", taken(at(x=1), x=1.0)),
    Served(MISSING, "2.0 for 2", taken(at(n=2.0))),
    Served(MISSING, "of numpy", taken(at(x=np.float64(0.25), n=np.int8(2)))),
    Served(MISSING, "an array of one", taken(at(x=np.array([0.25])))),
    Served(MISSING, "a tensor of one", taken(at(x=torch.tensor(0.25)))),
    Served("ask on an exhausted discrete space", "in a run", exhausted),
]

ROWS = [*STATES, *POINTS, *ADDED, *ASKED]
