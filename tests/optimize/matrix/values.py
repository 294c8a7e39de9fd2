"""Values: what is told of a trial, and what a function may do."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
import torch

from bokern import Study, minimize
from bokern.errors import DataError, TrialError
from tests.optimize.matrix.row import PENDING, POINT, SPACE, Bench, Row, Served

ELSE = "fail(trial, reason)"
SQUARE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
ONE = {"structures": "Matern(2.5)"}


class Hostile:
    """Answers every question with an error."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")


def told(
    item: str,
    name: str,
    value: Any,
    *says: str,
    sem: Any = None,
    typed: str | None = None,
    typed_sem: str | None = None,
    typed_says: tuple[str, ...] | None = None,
    study: str = "run.db",
    trial: int = PENDING,
) -> Row:
    """A value that is refused, told of a pending trial."""
    cli = None
    if typed is not None:
        more = [] if typed_sem is None else [f"--sem={typed_sem}"]

        def cli(bench: Bench) -> list[Any]:
            return ["tell", bench.folder / study, *more, "--", trial, typed]

    return Row(
        item,
        name,
        (*says, ELSE),
        lambda bench: bench.open(study).tell(trial, value, sem),
        cli,
        typed=typed_says,
        error=DataError,
    )


NO_NUMBER = ("a value is a number, or numbers by outcome as JSON", "such as")

TELLS = [
    told("NaN", "NaN", math.nan, "finite number as value, got nan", typed="nan"),
    told("NaN", "of numpy", np.float32("nan"), "finite number as value, got nan"),
    told("NaN", "in an object", {"value": math.nan}, "got nan", typed='{"value": NaN}'),
    told("±inf", "inf", math.inf, "finite number as value, got inf", typed="inf"),
    told("±inf", "-inf", -math.inf, "finite number as value, got -inf", typed="-inf"),
    told("±inf", "10**400", 10**400, "finite number as value, got inf", typed="1e400"),
    told(
        "None",
        "None",
        None,
        "number as value, got None of type NoneType",
        typed="null",
        typed_says=(*NO_NUMBER, "got 'null'"),
    ),
    told(
        '"3.2"',
        "a number as text",
        "3.2",
        "number as value, got '3.2' of type str",
        typed='"3.2"',
        typed_says=(*NO_NUMBER, "3.2"),
    ),
    told(
        '"3.2"',
        "in an object",
        {"value": "3.2"},
        "number as value, got '3.2' of type str",
        typed='{"value": "3.2"}',
    ),
    told(
        '"abc"',
        "a word",
        "abc",
        "number as value, got 'abc' of type str",
        typed="abc",
        typed_says=(*NO_NUMBER, "got 'abc'"),
    ),
    told('"abc"', "of numpy", np.array("abc"), "number as value, got 'abc'"),
    told(
        "complex",
        "1j",
        1j,
        "number as value, got 1j of type complex",
        typed="1j",
        typed_says=(*NO_NUMBER, "got '1j'"),
    ),
    told("complex", "tensor", torch.tensor(1j), "number as value, got 1j"),
    told(
        "bool",
        "True",
        True,
        "number as value, got True of type bool",
        typed="true",
        typed_says=(*NO_NUMBER, "got 'true'"),
    ),
    told("bool", "of numpy", np.True_, "got True of type bool"),
    told("bool", "in an object", {"value": True}, "True", typed='{"value": true}'),
    told(
        "wrong length",
        "two numbers",
        np.zeros(2),
        "one number as value, got 2",
        "each trial by itself",
        typed="[0, 0]",
        typed_says=(*NO_NUMBER, "got '[0, 0]'"),
    ),
    told("wrong length", "a list of one", [0.1], "number as value, got [0.1]", "list"),
    told("wrong length", "a sem too many", 1.0, "standard error", "2", sem=np.ones(2)),
    told(
        "wrong metric name",
        "an unknown outcome",
        {"loss": 1.0},
        "unknown outcomes ['loss']",
        "this study has ['value']",
        typed='{"loss": 1.0}',
    ),
    told(
        "wrong metric name",
        "one too many",
        {"value": 1.0, "loss": 1.0},
        "unknown outcomes ['loss']",
        "this study has ['value']",
        typed='{"value": 1.0, "loss": 1.0}',
    ),
    told("wrong metric name", "no text", {1: 1.0}, "unknown outcomes [1]", "['value']"),
    told(
        "wrong metric name",
        "of a standard error",
        1.0,
        "unknown outcomes ['loss']",
        "['value']",
        sem={"loss": 1.0},
        typed="1.0",
        typed_sem='{"loss": 1.0}',
    ),
    told(
        "wrong metric name",
        "a number where there are several",
        1.0,
        "a value for each of ['loss', 'gain', 'cost'] by name",
        "such as {'loss': 0.3}",
        "got 1.0",
        typed="1.0",
        study="several.db",
        trial=0,
    ),
    told(
        "wrong metric name",
        "one is missing",
        {"loss": 1.0, "gain": 0.0},
        "a value for each of ['loss', 'gain', 'cost']",
        "['cost'] are missing",
        typed='{"loss": 1.0, "gain": 0.0}',
        study="several.db",
        trial=0,
    ),
    told("empty", "no outcome", {}, "['value']", "missing", typed="{}"),
    told(
        "empty",
        "no text",
        "",
        "number as value, got '' of type str",
        typed="",
        typed_says=(*NO_NUMBER, "got ''"),
    ),
    told("empty", "an empty list", [], "number as value, got []"),
    told("empty", "an empty tensor", torch.zeros(0), "one number as value, got 0"),
    told("empty", "a tensor without data", torch.zeros((), device="meta"), "number"),
    told("empty", "an object of errors", Hostile(), "number as value", "Hostile"),
    told(
        "sem < 0",
        "-0.1",
        1.0,
        "standard error",
        "of 0 or more, got -0.1",
        "leave it out if it is unknown",
        sem=-0.1,
        typed="1.0",
        typed_sem="-0.1",
    ),
    told(
        "sem < 0",
        "NaN",
        1.0,
        "finite number as standard error of the value, got nan",
        sem=math.nan,
        typed="1.0",
        typed_sem="nan",
    ),
    told(
        "sem < 0",
        "a word",
        1.0,
        "number as standard error of the value, got 'a'",
        sem="a",
        typed="1.0",
        typed_sem="a",
        typed_says=(*NO_NUMBER, "got 'a'"),
    ),
    told(
        "|y| ≥ 1e100",
        "1e100",
        1e100,
        "1e+100 is too large to model as value",
        "below 1e100",
        "divide by a constant",
        typed="1e100",
    ),
    told("|y| ≥ 1e100", "-1e300", -1e300, "-1e+300", "divide", typed="-1e300"),
    Row(
        "empty",
        "nothing but a trial",
        ("number as value", "NoneType", "--failed REASON"),
        None,
        lambda bench: ["tell", bench.path, PENDING],
    ),
    Row(
        "empty",
        "the same outcome twice",
        ("'value' stands twice",),
        None,
        lambda bench: ["tell", bench.path, PENDING, '{"value": 1, "value": 2}'],
    ),
    Row(
        "empty",
        "a value and a failure",
        ("not both",),
        None,
        lambda bench: ["tell", bench.path, PENDING, "1.0", "--failed", "burst"],
    ),
    Row(
        "all trials failed, then best",
        "one of one failed",
        ("no best trial", "none was completed"),
        lambda bench: bench.open("failed.db").best,
        lambda bench: ["best", bench.folder / "failed.db"],
        error=TrialError,
    ),
    Row(
        "all trials failed, then best",
        "no trial at all",
        ("no best trial", "none was completed"),
        lambda bench: Study(None, SPACE).best,
        error=TrialError,
    ),
    Row(
        "all trials failed, then best",
        "several objectives",
        ("['loss', 'gain']", "no one best trial", "pareto lists"),
        lambda bench: bench.open("several.db").best,
        error=TrialError,
    ),
]

POINTS = [{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.8}]


def failing(value: Any, *says: str) -> Any:
    """A function that returns or raises something makes a failed trial."""

    def act(bench: Bench) -> None:
        def f(x: float, y: float) -> Any:
            if isinstance(value, Exception):
                raise value
            return value

        place = bench.folder / "new.db"
        found = minimize(f, SQUARE, 2, study=place, initial=POINTS, **ONE)
        assert found.best_parameters == {}
        assert math.isnan(found.best_value)
        assert "none of 2 trials succeeded" in str(found)
        assert list(found.trials["status"]) == ["failed"] * 2
        for reason in found.trials["reason"]:
            assert all(words in reason for words in says), reason
        assert len(Study(place)) == 2

    return act


def interrupted(stop: type[BaseException]) -> Any:
    def act(bench: Bench) -> None:
        calls = []

        def f(x: float, y: float) -> float:
            calls.append(x)
            if len(calls) == 3:
                raise stop
            return x

        place = bench.folder / "new.db"
        with pytest.raises(stop) as caught:
            minimize(f, SQUARE, 10, study=place, **ONE)
        found = caught.value.result  # type: ignore[attr-defined]
        assert len(found.trials) == 2
        assert found.best_value == min(calls[:2])
        assert "interrupted after 2 of 10" in found.notes[0]
        assert "2 finished trials" in caught.value.__notes__[0]
        assert [t.id for t in Study(place).pending] == [2]

    return act


def accepted(value: Any, sem: Any = None) -> Any:
    def act(bench: Bench) -> None:
        trial = bench.study.tell(PENDING, value, sem)
        assert trial.value in (0.5, 1.0)
        assert trial.sems["value"] == sem
        assert bench.open("run.db")[PENDING] == trial

    return act


def known_for_some(bench: Bench) -> None:
    """Noise that is known of some values only is inferred for all."""
    study = Study(bench.folder / "new.db", SQUARE, initial=3, **ONE)
    for number, sem in enumerate((0.1, None, 0.0, 0.2)):
        study.tell(study.ask(), float(number), sem)
    asked = study.ask()
    assert asked.generator == "Matern(2.5)"
    study.tell(asked, 1.0, 0.1)
    assert bench.open("new.db").ask().generator == "Matern(2.5)"
    assert [study[i].sems["value"] for i in range(5)] == [0.1, None, 0.0, 0.2, 0.1]


def constant(bench: Bench) -> None:
    structures = ["Matern(2.5)", "RBF()"]
    study = Study(bench.folder / "new.db", SQUARE, initial=16, structures=structures)

    def tell() -> None:
        for _ in range(20):
            study.tell(study.ask(), 3.0)

    with pytest.warns(UserWarning, match="constant"):
        tell()
    assert study.best.value == 3.0
    frame = study.trials
    assert not frame.duplicated(["x", "y"]).any()


def hanging(bench: Bench) -> None:
    def f(x: float, y: float) -> float:
        if x > 0.5:
            time.sleep(60)
        return x

    start = time.perf_counter()
    found = minimize(f, SQUARE, 2, initial=POINTS, time_limit=2.0, **ONE)
    assert time.perf_counter() - start < 40
    assert list(found.trials["status"]) == ["completed", "failed"]
    assert found.trials["reason"][1] == "stopped at its time limit of 2 s"


def long_reason(bench: Bench) -> None:
    bench.study.fail(PENDING, "é" * 2**25)
    reason = bench.open("run.db")[PENDING].reason
    assert len(reason) < 20_000
    assert "33554432 characters in all" in reason
    bench.study.fail(EXPIRED_OR_NEXT, "\ud800\0<b>")
    assert bench.open("run.db")[EXPIRED_OR_NEXT].reason == "\ud800\0<b>"


EXPIRED_OR_NEXT = 3

SERVED = [
    Served("one-element tensor (accepted)", "0-d", accepted(torch.tensor(0.5))),
    Served("one-element tensor (accepted)", "1 x 1", accepted(torch.tensor([[0.5]]))),
    Served("one-element tensor (accepted)", "array", accepted(np.array([0.5]))),
    Served(
        "one-element tensor (accepted)", "sparse", accepted(torch.ones(1).to_sparse())
    ),
    Served("one-element tensor (accepted)", "float", accepted(0.5)),
    Served("one-element tensor (accepted)", "int", accepted(1)),
    Served("one-element tensor (accepted)", "float32", accepted(np.float32(0.5))),
    Served("sem 0 (accepted as noise-free)", "0", accepted(0.5, 0.0)),
    Served("sem 0 (accepted as noise-free)", "unknown", accepted(0.5, None)),
    Served("sem 0 (accepted as noise-free)", "known of some", known_for_some),
    Served("constant y × 20", "told one by one", constant),
    Served(
        "exception", "an exception", failing(ValueError("burst"), "ValueError: burst")
    ),
    Served(
        "exception", "with a huge message", failing(ValueError("b" * 2**25), "33554")
    ),
    Served("exception", "NaN returned", failing(math.nan, "finite number", "nan")),
    Served("exception", "None returned", failing(None, "NoneType")),
    Served("exception", "complex returned", failing(1j, "complex")),
    Served("exception", "a huge value returned", failing(1e100, "too large")),
    Served("exception", "two numbers returned", failing(np.zeros(2), "got 2")),
    Served("exception", "a hostile object", failing(Hostile(), "Hostile")),
    Served("exception", "reasons of any length and kind", long_reason),
    Served("KeyboardInterrupt", "in the function", interrupted(KeyboardInterrupt)),
    Served("SystemExit", "in the function", interrupted(SystemExit)),
    Served("a hang beyond the time limit", "sleep", hanging),
]

__all__ = ["POINT", "SERVED", "TELLS"]
