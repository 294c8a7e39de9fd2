"""Space and data: what a study is about, and tables of past trials."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bokern import Study, choice, minimize
from bokern.errors import ColumnError, DataError, InputError, SpaceError
from tests.optimize.matrix.row import SPACE, Bench, Row, Served

CHOICES = "empty, repeated, mixed-type or 10,000 choices"
NAMES = "names that are duplicate, empty, unicode, quoted, HTML, 200 characters"
DATA = (
    "DataFrames with NaN, wrong dtype, shuffled, missing or duplicate columns, 0 rows"
)
SCALES = "scales from 1e-300 to 1e300"
HOW = "write (0.0, 1.0)"
GOOD = {"x": (0.0, 1.0)}


def space(
    item: str,
    name: str,
    given: Any,
    /,
    *says: str,
    typed: str | Mapping[str, Any] | None = None,
    typed_says: tuple[str, ...] | None = None,
    **arguments: Any,
) -> list[Row]:
    """A space, or an argument, with which no study is begun and no file made.

    Args:
        item: Of the matrix.
        name: What is wrong.
        given: The space.
        says: What the message must contain.
        typed: The configuration; empty if there is no such thing.
        typed_says: What that must say, if not the same.
        arguments: Of the study.
    """
    cli = None
    if typed != "":
        document = {"space": given, **arguments} if typed is None else typed

        def cli(bench: Bench) -> list[Any]:
            return ["new", bench.write("new.yaml", document)]

    ways = {
        "Study": lambda bench: Study(bench.folder / "new.db", given, **arguments),
    }
    if not arguments:
        ways["minimize"] = lambda bench: minimize(
            lambda p: 1.0, given, 3, study=bench.folder / "new.db"
        )
    return [
        Row(
            item,
            f"{name}, {way}",
            says,
            act,
            cli if way == "Study" else None,
            typed=typed_says,
            error=InputError,
        )
        for way, act in ways.items()
    ]


BELOW = ("'x'", "lower bound must be below the upper one")
FINITE = ("'x'", "bounds are finite numbers", HOW)

SPACES = [
    *space("lo ≥ hi", "equal", {"x": (1.0, 1.0)}, *BELOW, "got (1.0, 1.0)"),
    *space("lo ≥ hi", "swapped", {"x": (2.0, 1.0)}, *BELOW, "got (2.0, 1.0)", "swap"),
    *space("lo ≥ hi", "whole numbers", {"x": (3, 1)}, *BELOW, "got (3, 1)"),
    *space(
        "lo ≥ hi",
        "one ulp apart",
        {"x": (1.0, 1.0 + 2**-52)},
        "'x'",
        "too narrow",
        "(1.0, 1.0000000000000002)",
        "subtract",
    ),
    *space("NaN or inf bounds", "inf", {"x": (0.0, math.inf)}, *FINITE, "(0.0, inf)"),
    *space("NaN or inf bounds", "NaN", {"x": (math.nan, 1.0)}, *FINITE, "(nan, 1.0)"),
    *space("NaN or inf bounds", "None", {"x": (0.0, None)}, *FINITE, "(0.0, None)"),
    *space("NaN or inf bounds", "text", {"x": ("a", "b")}, *FINITE, "('a', 'b')"),
    *space("NaN or inf bounds", "bool", {"x": (True, False)}, *FINITE, "(True, False)"),
    *space(
        "NaN or inf bounds", "complex", {"x": (0.0, 1j)}, *FINITE, "(0.0, 1j)", typed=""
    ),
    *space(
        "NaN or inf bounds",
        "of numpy",
        {"x": (np.bool_(False), np.int64(5))},
        *FINITE,
        typed="",
    ),
    *space("NaN or inf bounds", "one number", {"x": (1.0,)}, "'x'", HOW, typed=""),
    *space(
        "NaN or inf bounds", "unknown scale", {"x": (1.0, 2.0, "lin")}, HOW, typed=""
    ),
    *space(
        "NaN or inf bounds",
        "an array",
        {"x": np.array([0.0, 1.0])},
        "'x'",
        HOW,
        typed="",
    ),
    *space(
        "NaN or inf bounds",
        "fixed at NaN",
        {**GOOD, "y": math.nan},
        "'y'",
        "nan",
        HOW,
    ),
    *space(
        "NaN or inf bounds",
        "fixed at None",
        {"x": None},
        "'x'",
        "None",
        HOW,
        typed_says=("'x'", "None", "write {low: 0.0, high: 1.0}"),
    ),
    *space(
        "log scale with lo ≤ 0",
        "0",
        {"x": (0.0, 1.0, "log")},
        "'x'",
        "positive bounds",
        "(0.0, 1.0)",
        "raise the lower bound or drop 'log'",
    ),
    *space(
        "log scale with lo ≤ 0",
        "below 0",
        {"x": (-1, 9, "log")},
        "'x'",
        "positive bounds",
        "(-1, 9)",
    ),
    *space(
        SCALES,
        "a width that overflows",
        {"x": (-1e308, 1e308)},
        "'x'",
        "1e+300",
        "(-1e+308, 1e+308)",
        "multiply",
    ),
    *space(
        SCALES,
        "the least number there is",
        {"x": (0.0, 5e-324)},
        "'x'",
        "1e-300",
        "(0.0, 5e-324)",
        "multiply",
    ),
    *space(
        SCALES,
        "whole numbers of 400 digits",
        {"x": (0, 10**400)},
        "'x'",
        "2**53",
        "(0, 1000",
        "real numbers",
    ),
    *space(
        SCALES,
        "beyond whole numbers",
        {"x": (0, 2**63)},
        "'x'",
        "2**53",
        "real numbers",
    ),
    *space(
        SCALES, "choices of 400 digits", {"x": [1, 10**400]}, "'x'", "1e+38", "1000"
    ),
    *space(
        SCALES,
        "choices that overflow",
        {"x": [-1e308, 1e308]},
        "'x'",
        "1e+38",
        "got -1e+308",
        "divide by a constant",
    ),
    *space(NAMES, "empty", {"": (0.0, 1.0)}, "name is a word", "got ''"),
    *space(NAMES, "blank", {" \t": (0.0, 1.0)}, "name is a word"),
    *space(NAMES, "a number", {3: (0.0, 1.0)}, "name is a word", "got 3"),
    *space(NAMES, "None", {None: (0.0, 1.0)}, "name is a word", "got None"),
    *space(
        NAMES,
        "201 characters",
        {"x" * 201: (0.0, 1.0)},
        "200 characters at most",
        "201",
        "xxxxx",
    ),
    *space(
        NAMES,
        "no Unicode",
        {"\ud800": (0.0, 1.0)},
        "name",
        "\\ud800",
        "Unicode",
        typed="",
    ),
    *space(NAMES, "line break", {"a\nb": (0.0, 1.0)}, "name", "'a\\nb'", "one line"),
    *space(NAMES, "NUL", {"a\0b": (0.0, 1.0)}, "name", "'a\\x00b'", "one line"),
    *space(
        NAMES,
        "a column of the table",
        {"status": (0.0, 1.0)},
        "'status'",
        "column of the table",
        "choose a name other than",
    ),
    *space(
        NAMES,
        "the column of values",
        {"value": (0.0, 1.0)},
        "'value'",
        "column of the table",
    ),
    *space(
        NAMES,
        "the column of a standard error",
        {"value_sem": (0.0, 1.0)},
        "'value_sem'",
        "standard error",
        "rename",
    ),
    *space(
        NAMES,
        "duplicate",
        {"x": (0.0, 1.0), "x ": (0.0, 1.0)},
        "'x '",
        "'x'",
        "blanks",
        "rename",
    ),
    Row(
        NAMES,
        "duplicate keys",
        ("['x'] stand twice", "rename"),
        None,
        lambda bench: ["new", bench.write("new.yaml", "space: {x: 1, x: 2}")],
    ),
    *space(CHOICES, "empty", {"x": []}, "'x' has no values", HOW),
    *space(CHOICES, "empty without order", {"x": choice()}, "'x' has no values", HOW),
    *space(CHOICES, "one", {"x": [1]}, "'x' has one value only", "write 1 by itself"),
    *space(CHOICES, "repeated", {"x": [1, 1]}, "'x'", "[1, 1]", "repeated", "leave"),
    *space(CHOICES, "repeated as 1.0", {"x": [1, 1.0, 2]}, "'x'", "repeated"),
    *space(
        CHOICES, "mixed", {"x": [1, "a"]}, "'x'", "[1, 'a']", "all numbers, all texts"
    ),
    *space(
        CHOICES, "mixed with bool", {"x": [1, True]}, "'x'", "all numbers, all texts"
    ),
    *space(CHOICES, "with None", {"x": [1, None]}, "'x'", "[1, None]", "all numbers"),
    *space(CHOICES, "lists", {"x": [[1], [2]]}, "'x'", "[[1], [2]]", "all numbers"),
    *space(CHOICES, "NaN", {"x": [1.0, math.nan]}, "'x'", "finite", "nan", "leave"),
    *space(CHOICES, "inf", {"x": [1, 2.5, math.inf]}, "'x'", "finite", "inf"),
    *space(
        CHOICES,
        "10,000",
        {"x": list(range(10_000))},
        "'x' has 10000 values",
        "at most 1000",
        "use a range, or fewer values",
    ),
    *space(CHOICES, "1,001", {"x": list(range(1001))}, "1001 values", "at most 1000"),
    *space(
        CHOICES,
        "10,000 without order",
        {"x": choice(*range(10_000))},
        "'x' has 10000 values",
        "at most 1000",
    ),
    *space(
        CHOICES,
        "texts of 10 million characters",
        {"x": choice("a" * 10**7, "b")},
        "'x'",
        "10000000 characters",
        "1000 at most",
        typed="",
    ),
    *space(
        CHOICES, "no Unicode", {"x": choice("\ud800", "b")}, "'x'", "Unicode", typed=""
    ),
    *space(NAMES, "no space", {}, "at least one parameter", "such as"),
    *space(
        NAMES,
        "a list for a space",
        [("x", (0.0, 1.0))],
        "a space is a dictionary",
        "such as {'x': (0.0, 1.0)}",
        typed={"space": [1, 2]},
        typed_says=("needs a space", "such as"),
    ),
    *space(
        NAMES, "all fixed", {"x": 1, "y": "a"}, "every parameter", "leave one to search"
    ),
    Row(
        NAMES,
        "None for a space",
        ("a space is a dictionary", "such as", "got None"),
        lambda bench: minimize(len, None, 3, study=bench.folder / "new.db"),
        lambda bench: ["new", bench.write("new.yaml", {"budget": 3})],
        typed=("needs a space", "such as"),
        error=SpaceError,
    ),
    Row(
        NAMES,
        "neither space nor place",
        ("a study needs a space, such as", "or the place of one that exists"),
        lambda bench: Study(),
        error=SpaceError,
    ),
]

ARGUMENTS = [
    row
    for name, arguments, says in (
        ("direction", {"direction": "up"}, ("'minimize' or 'maximize'", "'up'")),
        ("no direction", {"direction": {}}, ("direction=", "'minimize'", "{}")),
        ("directions listed", {"direction": ["minimize"]}, ("direction=", "by name")),
        ("outcome is a parameter", {"direction": {"x": "minimize"}}, ("'x'", "rename")),
        ("outcome without name", {"direction": {"": "minimize"}}, ("a word", "''")),
        ("outcome is a number", {"direction": {1: "minimize"}}, ("a word", "got 1")),
        ("outcome is a column", {"direction": {"status": "minimize"}}, ("column of",)),
        (
            "outcome and its standard error",
            {"direction": {"a": "minimize", "a_sem": "minimize"}},
            ("'a_sem'", "standard error", "rename"),
        ),
        ("outcome of 201", {"direction": {"y" * 201: "minimize"}}, ("200 characters",)),
        ("outcome breaks", {"direction": {"a\nb": "minimize"}}, ("'a\\nb'", "line")),
        ("initial 0", {"initial": 0}, ("initial=", "1 or more", "got 0")),
        ("initial True", {"initial": True}, ("initial=", "1 or more", "True")),
        ("seed -1", {"seed": -1}, ("seed=", "0 or more", "got -1")),
        ("seed 1.5", {"seed": 1.5}, ("seed=", "whole number", "got 1.5")),
        ("seed too large", {"seed": 2**63}, ("seed=", "below 2**63", "9223372")),
        ("name empty", {"name": ""}, ("study's name", "got ''")),
        ("name of 201", {"name": "a" * 201}, ("study's name", "200 characters")),
        ("name breaks", {"name": "a\0b"}, ("study's name", "one line", "a\\x00b")),
        ("acquisition", {"acquisition": "pi"}, ("expected one of", "'pi'", "logei")),
        ("options", {"acquisition_options": {"delta": 0.1}}, ("takes none",)),
        ("options 3", {"acquisition_options": 3}, ("dictionary", "got 3")),
        (
            "delta",
            {"acquisition": "gp-ucb", "acquisition_options": {"delta": 2.0}},
            ("delta", "between 0 and 1", "got 2"),
        ),
        ("selection", {"selection": "all"}, ("expected one of", "'all'", "draw")),
        ("structures", {"structures": 3}, ("structures=", "'auto'", "got int")),
        ("structure unknown", {"structures": "RFB()"}, ("'RFB'", "expected one of")),
        ("structure cut", {"structures": "RBF("}, ("RBF(",)),
        ("structure long", {"structures": "(" * 5000}, ("4000 characters", "5000")),
        ("structure's column", {"structures": "RBF(columns=['z'])"}, ("'z'",)),
        (
            "group",
            {"structures": "Invariant(RBF(), permutations(40))"},
            ("permutations",),
        ),
        (
            "constrained objective",
            {"outcome_constraints": ["value <= 1"]},
            ("'value' is the objective", "with several objectives it can"),
        ),
        (
            "gp-ucb for two objectives",
            {
                "acquisition": "gp-ucb",
                "direction": {"loss": "minimize", "cost": "minimize"},
            },
            ("gp-ucb handles one objective", "'logei' or 'qlognei'"),
        ),
    )
    for row in space(
        "a changed space on resume" if "direction" in arguments else NAMES,
        f"argument, {name}",
        GOOD,
        *says,
        **arguments,
    )
]

WIDE = {
    "x": (0.0, 1.0),
    "y": (0.0, 2.0),
    "n": (1, 5),
    "lr": (1e-5, 1e-1, "log"),
    "k": [1, 2, 3],
    "gamma": (0.0, 1.0),
    "learning rate": (0.0, 1.0),
    "fixed": 3,
}
CODE = "expressions with code, power towers, unknown names"
CONTRADICT = "contradictory constraints"
SUCH_AS = "such as 'x + 2*y <= 1.5'"


def constrained(
    item: str, text: Any, *says: str, outcome: bool = False, typed: bool = True
) -> Row:
    """A constraint that is refused."""
    key = "outcome_constraints" if outcome else "constraints"
    arguments: dict[str, Any] = {key: text if isinstance(text, list | int) else [text]}
    document = {"space": WIDE, **arguments}
    return Row(
        item,
        f"{key} {text!r:.60}",
        says,
        lambda bench: Study(bench.folder / "new.db", WIDE, **arguments),
        (lambda bench: ["new", bench.write("new.yaml", document)]) if typed else None,
        error=SpaceError,
    )


READ = ("cannot read", SUCH_AS)
TERM = ("no number, name or product of both", SUCH_AS)
CONSTRAINTS = [
    constrained(CODE, "__import__('os').system('true') <= 1", *READ, "character 11"),
    constrained(CODE, "exp(x) <= 1", *READ, "'(x) <= 1'"),
    constrained(CODE, "x.real <= 1", *READ, "'.real <= 1'"),
    constrained(CODE, "x[0] <= 1", *READ),
    constrained(CODE, "lambda: x <= 1", *READ),
    constrained(CODE, "x;y <= 1", *READ),
    constrained(CODE, '"x <= 1', *READ),
    constrained(CODE, "x < 1", *READ),
    constrained(CODE, "x == 1", *READ),
    constrained(CODE, "x <= 1\0", *READ, typed=False),
    constrained(CODE, "9**9**9**9 <= x", *TERM),
    constrained(CODE, "x**2 <= 1", *TERM),
    constrained(CODE, "x*y <= 1", *TERM),
    constrained(CODE, "2*3 <= x", *TERM),
    constrained(CODE, "x + <= 1", *TERM),
    constrained(CODE, "x + - y <= 1", *TERM),
    constrained(CODE, "x y <= 1", "lacks a + or -", SUCH_AS),
    constrained(CODE, "2 3 <= x", "lacks a + or -", SUCH_AS),
    constrained(CODE, "x <=", "empty side", SUCH_AS),
    constrained(CODE, "<= 1", "empty side", SUCH_AS),
    constrained(CODE, "", "no <= or >=", SUCH_AS),
    constrained(CODE, "x", "no <= or >=", SUCH_AS),
    constrained(CODE, "0 <= x <= 1", "two relations", "write two constraints"),
    constrained(CODE, "1 <= 2", "bounds no name", SUCH_AS),
    constrained(CODE, "x - x <= 2", "bounds no name", SUCH_AS),
    constrained(CODE, "x <= 1e999", "too large", "x <= 1e999"),
    constrained(CODE, "x" * 20_000 + " <= 1", "20005 characters", "too long", SUCH_AS),
    constrained(CODE, "9" * 9_000 + " <= x", "too large"),
    constrained(CODE, [3], "is a text", "got 3", SUCH_AS),
    constrained(CODE, 3, "list of texts", "got 3", SUCH_AS),
    constrained(CODE, "z <= 1", "'z', which is no parameter"),
    constrained(CODE, "xx <= 1", "'xx'", "did you mean 'x'"),
    constrained(CODE, "lr <= 1", "'lr' is on a log scale", "drop 'log'"),
    constrained(CODE, "k <= 1", "'k'", "no range of numbers", "constrain ranges only"),
    constrained(CODE, "fixed <= 1", "'fixed'", "no range of numbers"),
    constrained(CODE, "gamma <= 1", "'gamma'", "rename it", "gamma_1"),
    constrained(CODE, '"learning rate" <= 1', "'learning rate'", "rename it"),
    constrained(CODE, "x <= 1", "is a parameter", "constraints=", outcome=True),
    constrained(CODE, "a + b <= 1", "bounds one outcome", "cost <= 1.2", outcome=True),
    constrained(CODE, "eval(a) <= 1", *READ, outcome=True),
    constrained(CONTRADICT, "x >= 2", "no point of the space", "or the bounds"),
    constrained(
        CONTRADICT,
        ["x + y <= 1", "x + y >= 1.5"],
        "no point of the space keeps the constraints",
        "contradict each other",
        "drop or loosen",
    ),
    constrained(CONTRADICT, ["2*n >= 3", "2*n <= 3"], "no point of the space"),
    constrained(
        CONTRADICT,
        ["cost <= 1", "cost >= 2"],
        "'cost'",
        "contradict",
        outcome=True,
    ),
]


def changed(name: str, *says: str, **arguments: Any) -> Row:
    """A study that is opened with another problem than it has."""
    document = {"study": "run.db", "space": SPACE, "budget": 9, "command": "echo 1"}
    typed = {**document, **arguments}
    return Row(
        "a changed space on resume",
        name,
        (*says, "is about something else", "Open it without a space", "begin another"),
        lambda bench: Study(bench.path, **arguments),
        lambda bench: ["optimize", bench.write("new.yaml", typed), "--resume"],
        error=SpaceError,
    )


CHANGED = [
    changed(
        "bounds",
        "'x': float in [0.0, 1.0] stored, float in [0.0, 2.0] given",
        space={**SPACE, "x": (0.0, 2.0)},
    ),
    changed("a log scale", "log", space={**SPACE, "n": (1, 5, "log")}),
    changed("whole numbers", "int in [0, 1] given", space={**SPACE, "x": (0, 1)}),
    changed("one more", "'z': none stored, [1, 2] given", space={**SPACE, "z": [1, 2]}),
    changed(
        "one less",
        "'n': int in [1, 5] stored, none given",
        space={k: v for k, v in SPACE.items() if k != "n"},
    ),
    changed(
        "an order",
        "['a', 'b'] without an order stored, ['a', 'b'] given",
        space={**SPACE, "k": ["a", "b"]},
    ),
    changed(
        "a fixed value", "'fixed': [3] stored, [4] given", space={**SPACE, "fixed": 4}
    ),
    changed(
        "direction",
        "minimize value stored, maximize value given",
        direction="maximize",
    ),
    changed(
        "constraints",
        "constraints: none stored, 1.0*x <= 0.5 given",
        space=SPACE,
        constraints=["x <= 0.5"],
    ),
    changed(
        "outcome constraints",
        "outcome constraints: none stored",
        outcome_constraints=["cost <= 1"],
    ),
]


def frame(**changes: Any) -> pd.DataFrame:
    columns = {
        "k": ["a", "b", "a"],
        "n": [1, 2, 5],
        "value": [0.5, 0.25, 2.0],
        "x": [0.1, 0.2, 0.3],
    }
    return pd.DataFrame({**columns, **changes})


def table(name: str, given: pd.DataFrame, error: type, *says: str, **more: Any) -> Row:
    """A table that is refused whole."""

    def cli(bench: Bench) -> list[Any]:
        text = given.to_csv(index=False)
        return ["import", bench.path, bench.write("table.csv", text)]

    return Row(
        DATA, name, says, lambda bench: bench.study.add(given), cli, error=error, **more
    )


def text(name: str, content: str | bytes, *says: str) -> Row:
    """A file that is no table of trials."""
    return Row(
        DATA,
        f"file, {name}",
        says,
        None,
        lambda bench: ["import", bench.path, bench.write("table.csv", content)],
    )


TABLES = [
    table(
        "missing x", frame().drop(columns="x"), ColumnError, "lacks the columns ['x']"
    ),
    table(
        "missing y", frame().drop(columns="value"), ColumnError, "['value']", "needs"
    ),
    table("extra", frame(other=1), ColumnError, "unknown columns ['other']", "leave"),
    table(
        "duplicate",
        pd.concat([frame(), frame()[["x"]]], axis=1),
        ColumnError,
        "['x']",
        "rename",
    ),
    table(
        "NaN in y",
        frame(value=[1.0, math.nan, 2.0]),
        DataError,
        "row 1: ",
        "finite number as value, got nan",
    ),
    table(
        "NaN in x", frame(x=[0.1, math.nan, 0.3]), InputError, "row 1: ", "'x'", "nan"
    ),
    table(
        "NaN in n", frame(n=[1.0, 2.0, math.nan]), InputError, "row 2: ", "'n'", "nan"
    ),
    table(
        "NaN in k", frame(k=["a", "b", None]), InputError, "row 2: ", "'k' is one of"
    ),
    table("inf", frame(value=[1.0, math.inf, 2.0]), DataError, "row 1: ", "got inf"),
    table(
        "words for y",
        frame(value=["a", "b", "c"]),
        DataError,
        "row 0: ",
        "number",
        "'a'",
    ),
    table(
        "words for x", frame(x=["a", "b", "c"]), InputError, "row 0: ", "'x' lies in"
    ),
    table(
        "out of bounds", frame(n=[1, 2, 6]), InputError, "row 2: ", "lies in", "got 6"
    ),
    table("a fraction", frame(n=[1, 2.5, 5]), InputError, "row 1: ", "whole number"),
    table("choice", frame(k=["a", "b", "c"]), InputError, "row 2: ", "one of", "'c'"),
    table(
        "sem < 0", frame(value_sem=-1.0), DataError, "row 0: ", "0 or more", "got -1"
    ),
    table("status", frame(status="done"), DataError, "row 0: ", "'done'", "completed"),
    Row(
        DATA,
        "complex",
        ("row 0: ", "number as value", "complex"),
        lambda bench: bench.study.add(frame(value=np.ones(3) * 1j)),
        error=DataError,
    ),
    Row(
        DATA,
        "bool",
        ("row 0: ", "number as value", "bool"),
        lambda bench: bench.study.add(frame(value=[True, False, True])),
        error=DataError,
    ),
    Row(
        DATA,
        "dates",
        ("row 0: ", "number as value", "Timestamp"),
        lambda bench: bench.study.add(frame(value=pd.to_datetime(["2020-01-01"] * 3))),
        error=DataError,
    ),
    *[
        Row(
            DATA,
            f"{type(data).__name__} for a table",
            ("a DataFrame, an Optuna study, an Ax client", type(data).__name__),
            lambda bench, data=data: bench.study.add(data),
            error=DataError,
        )
        for data in (3, "trials.csv", b"x", None, np.zeros(3), {"x": 1}, {1, 2})
    ],
    text("empty", "", "header line", "table.csv", "write the column names"),
    text("binary", b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8 text", "table.csv"),
    text("NUL", b"x,n,k,value\n\0", "binary data", "export the table as CSV"),
    text("ragged", "x,n,k,value\n1,2\n1,2,a,3,4,5\n", "one value per column", "mend"),
    text("no column name", "x,,k,value\n1,2,a,3\n", "a name for each column"),
    text("one column", "0.5\n0.25\n", "lacks the columns"),
    text("JSON", '{"trials": []}', "columns"),
    text("HTML", "<table><tr><td>x</td></tr></table>", "columns"),
]


def named(bench: Bench) -> None:
    names = [
        "größe",
        "a b",
        'say "x"',
        "it's",
        "<b>bold</b>",
        "n" * 200,
        "γ",
        "E",
        "lambda",
        "gamma",
    ]
    names += [
        "__import__('os')",
        "-x",
        "x; y",
        "%s",
        "{x}",
        "trial ",
        "日本",
        "\u202ex",
    ]
    study = Study(
        bench.folder / "new.db",
        dict.fromkeys(names, (0.0, 1.0)),
        {"100 % <i>": "maximize"},
        initial=3,
        structures="Matern(2.5)",
    )
    for _ in range(4):
        trial = study.ask()
        study.tell(trial, sum(trial.parameters.values()))
    again = bench.open("new.db").trials
    assert list(again.columns[1 : 1 + len(names)]) == names
    assert "100 % <i>" in again


def scaled(space: dict[str, Any], factor: float) -> Any:
    def act(bench: Bench) -> None:
        study = Study(
            bench.folder / "new.db", space, initial=2, structures="Matern(2.5)"
        )
        for number in range(4):
            trial = study.ask()
            study.tell(trial, factor * (number + 0.5))
        again = bench.open("new.db")
        assert again.best.value == factor * 0.5
        for name, (low, high, *_) in space.items():
            assert again.trials[name].between(low, high).all()
            assert again.trials[name].nunique() > 1

    return act


def far_apart(bench: Bench) -> None:
    space = {"x": [-1e38, 0.0, 1e-38, 1e38], "y": (0.0, 1.0)}
    study = Study(bench.folder / "new.db", space, initial=2, structures="Matern(2.5)")
    for number in range(4):
        study.tell(study.ask(), float(number))
    assert study.trials["x"].isin(space["x"]).all()


def taken(given: pd.DataFrame, count: int) -> Any:
    def act(bench: Bench) -> None:
        before = len(bench.study)
        assert len(bench.study.add(given)) == count
        assert len(bench.open("run.db")) == before + count

    return act


DATA = DATA


def same(bench: Bench) -> None:
    study = Study(bench.path, dict(reversed(SPACE.items())), "minimize")
    assert study.trials.equals(bench.study.trials)
    assert Study(bench.path, direction="minimize").problem == study.problem


SERVED = [
    Served("a changed space on resume", "the same again", same),
    Served(NAMES, "of all kinds", named),
    Served(SCALES, "values of 1e-300", scaled({"x": (0.0, 1.0)}, 1e-300)),
    Served(SCALES, "values of 1e99", scaled({"x": (0.0, 1.0)}, 1e99)),
    Served(SCALES, "ranges of 1e-300", scaled({"x": (0.0, 1e-300)}, 1.0)),
    Served(SCALES, "ranges of 1e300", scaled({"x": (-1e299, 1e300)}, 1.0)),
    Served(
        SCALES,
        "log scale from 1e-300 to 1e300",
        scaled({"x": (1e-300, 1e300, "log")}, 1.0),
    ),
    Served(
        SCALES, "side by side", scaled({"x": (0.0, 1e-300), "y": (0.0, 1e300)}, 1e-9)
    ),
    Served(SCALES, "choices of 1e38", far_apart),
    Served(SCALES, "narrow beside 0", scaled({"x": (1.0, 1.0 + 1e-6)}, 1.0)),
    Served(DATA, "shuffled", taken(frame()[["x", "value", "k", "n"]], 3)),
    Served(DATA, "0 rows", taken(frame().iloc[:0], 0)),
    Served(DATA, "0 rows of no dtype", taken(pd.DataFrame(columns=list(frame())), 0)),
    Served(
        DATA,
        "float32 and int8",
        taken(frame().astype({"x": "float32", "n": "int8"}), 3),
    ),
    Served(DATA, "nullable", taken(frame().convert_dtypes(), 3)),
    Served(DATA, "categories", taken(frame().astype({"k": "category"}), 3)),
]

ROWS = [*SPACES, *ARGUMENTS, *CONSTRAINTS, *CHANGED, *TABLES]
