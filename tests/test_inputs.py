from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
import torch

import bokern
from bokern.errors import (
    BoundsError,
    ColumnError,
    DataError,
    GroupError,
    InputError,
    ShapeError,
    StructureError,
)
from bokern.inputs import read_observations

N = 6
X = torch.linspace(0.0, 1.0, N, dtype=torch.float64).unsqueeze(-1) ** torch.tensor(
    [1.0, 2.0], dtype=torch.float64
)
Y = X[:, 0] + torch.tensor([0.1, 0.0, 0.2, 0.0, 0.3, 0.1], dtype=torch.float64)
FRAME = pd.DataFrame(X.numpy(), columns=["speed", "angle"])
SERIES = pd.Series(Y.numpy(), name="lift")


def spoiled(values: torch.Tensor, index: object, value: float) -> torch.Tensor:
    values = values.clone()
    values[index] = value
    return values


def frame(**columns: object) -> pd.DataFrame:
    return FRAME.assign(**columns)


BOX = {"speed": (0.0, 1.0), "angle": (0.0, 1.0)}
REPEATED = torch.cat([X[:3], X[:3]])


def case(name: str, error: type[InputError], *named: str, **change: object):
    """Arguments in place of good ones, the error, and what its message names."""
    return pytest.param(change, error, named, id=name)


# Each message names the parameter or column, the value that came, and the remedy.
BAD = [
    case(
        "nan in X",
        DataError,
        "'x1' is nan in row 2",
        "drop or impute",
        X=spoiled(X, (2, 1), math.nan),
    ),
    case(
        "inf in X",
        DataError,
        "'x0' is inf in row 4",
        "drop or impute",
        X=spoiled(X, (4, 0), math.inf),
    ),
    case(
        "nan in a frame",
        DataError,
        "'angle' is nan in row 1",
        "drop or impute",
        X=frame(angle=[0.0, math.nan, 1, 1, 1, 1]),
    ),
    case(
        "nan in y",
        DataError,
        "'y' is nan in row 3",
        "drop or impute",
        y=spoiled(Y, 3, math.nan),
    ),
    case(
        "inf in a series",
        DataError,
        "'lift' is -inf in row 5",
        "finite",
        y=SERIES.where(SERIES.index != 5, -math.inf),
    ),
    case(
        "empty",
        DataError,
        "got 0",
        "at least 2 observations are needed",
        X=X[:0],
        y=Y[:0],
    ),
    case(
        "one row",
        DataError,
        "got 1",
        "at least 2 observations are needed",
        X=X[:1],
        y=Y[:1],
    ),
    case(
        "no columns",
        ShapeError,
        "X has no columns",
        "at least one input is needed",
        X=X[:, :0],
    ),
    case(
        "constant y",
        DataError,
        "'y' is constant (2.5 in all 6 rows)",
        "check the target column",
        y=torch.full_like(Y, 2.5),
    ),
    case(
        "noise-free repeats",
        DataError,
        "row 3 repeats the inputs of another with a different 'y'",
        "average the repeats",
        X=REPEATED,
        noise=0.0,
    ),
    case(
        "outside the bounds",
        BoundsError,
        "'angle' is 0.64 in row 4, outside its bounds [0, 0.5]",
        "widen the bounds or drop the row",
        X=FRAME,
        bounds=BOX | {"angle": (0.0, 0.5)},
    ),
    case(
        "inverted bounds",
        BoundsError,
        "bounds of 'speed' are [1, 0]",
        "low < high",
        X=FRAME,
        bounds=BOX | {"speed": (1.0, 0.0)},
    ),
    case(
        "infinite bounds",
        BoundsError,
        "bounds of 'x0' are [0, inf]",
        "finite numbers",
        bounds=[(0, math.inf), (0, 1)],
    ),
    case(
        "too few bounds",
        BoundsError,
        "got 1 x 2",
        "2 pairs (low, high)",
        bounds=[(0, 1)],
    ),
    case(
        "bounds of words",
        BoundsError,
        "got 'unit'",
        "a (low, high) pair a column",
        bounds="unit",
    ),
    case(
        "unknown bound",
        ColumnError,
        "unknown: ['sped'], missing: ['speed']",
        "for the columns ['speed', 'angle']",
        X=FRAME,
        bounds={"sped": (0, 1), "angle": (0, 1)},
    ),
    case(
        "wrong dimensions of X",
        ShapeError,
        "got 1 x 6 x 2",
        "X is expected as n x d",
        X=X.unsqueeze(0),
    ),
    case(
        "a single number",
        ShapeError,
        "got a single number",
        "X is expected as n x d",
        X=3.0,
    ),
    case(
        "two outcomes",
        ShapeError,
        "got 6 x 2",
        "ModelListGP",
        y=X,
    ),
    case(
        "a frame of outcomes",
        ShapeError,
        "got 2: ['speed', 'angle']",
        "fit each outcome by itself",
        y=FRAME,
    ),
    case(
        "rows that differ",
        ShapeError,
        "X has 6 rows and y has 4",
        "one target a row",
        y=Y[:4],
    ),
    case(
        "object column",
        DataError,
        "column 'angle' holds",
        "pandas.get_dummies",
        X=frame(angle=list("abcdef")),
    ),
    case(
        "object target",
        DataError,
        "column 'lift' holds",
        "numbers are expected",
        y=pd.Series(list("abcdef"), name="lift"),
    ),
    case(
        "array of words",
        DataError,
        "X is expected as numbers",
        "convert it",
        X=np.array([["a", "b"]] * N),
    ),
    case(
        "nothing",
        DataError,
        "got NoneType",
        "convert it",
        y=None,
    ),
    case(
        "complex",
        DataError,
        "y is complex",
        "real numbers are expected",
        y=Y + 1j,
    ),
    case(
        "names twice",
        ColumnError,
        "twice: ['a']",
        "rename",
        X=FRAME.set_axis(["a", "a"], axis=1),
    ),
    case(
        "mixed dtypes",
        DataError,
        "got torch.float32 and torch.float64",
        "y.to(X)",
        X=X.float(),
    ),
    case(
        "mixed devices",
        DataError,
        "got cpu and meta",
        "convert one",
        y=Y.to("meta"),
    ),
    case(
        "negative noise",
        DataError,
        "noise is a variance",
        ">= 0",
        noise=-0.1,
    ),
    case(
        "noise of another size",
        ShapeError,
        "got 2",
        "one variance or 6",
        noise=[0.1, 0.2],
    ),
    case(
        "unknown structure",
        StructureError,
        "'Mattern'",
        "expected one of",
        structure="Mattern(2.5)",
    ),
    case(
        "unknown group",
        StructureError,
        "'rotations'",
        "permutations",
        structure="Invariant(RBF(), rotations(2))",
    ),
    case(
        "no structure",
        StructureError,
        "got 2.5 of type float",
        "Matern(2.5)",
        structure=2.5,
    ),
    case(
        "unknown column",
        ColumnError,
        "'drag' does not exist",
        "['speed', 'angle']",
        X=FRAME,
        structure="RBF(columns=['drag'])",
    ),
    case(
        "group of another size",
        GroupError,
        "there are 2",
        "name the columns",
        structure="Invariant(RBF(), permutations(3))",
    ),
    case(
        "group on unequal bounds",
        BoundsError,
        "'angle' with bounds [0, 2]",
        "need equal bounds",
        X=FRAME,
        structure="Invariant(RBF(), swap('speed', 'angle'))",
        bounds=BOX | {"angle": (0, 2)},
    ),
    case(
        "starts",
        InputError,
        "got 0",
        "starts is a whole number >= 1",
        starts=0,
    ),
    case(
        "mean",
        InputError,
        "got 'linear'",
        "'constant' or 'zero'",
        mean="linear",
    ),
    case(
        "objective",
        InputError,
        "got 'mle'",
        "'map' or 'ml'",
        objective="mle",
    ),
]


@pytest.mark.parametrize(("change", "error", "named"), BAD)
def test_bad_input_is_refused_with_what_where_and_how(change, error, named):
    arguments = {"structure": "RBF()", "X": X, "y": Y} | change
    with pytest.raises(error) as caught:
        bokern.fit(
            arguments.pop("structure"),
            arguments.pop("X"),
            arguments.pop("y"),
            **arguments,
        )
    assert type(caught.value) is error
    assert isinstance(caught.value, InputError)
    for words in named:
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("values", "target", "names"),
    [
        (X, Y, ("x0", "x1")),
        (X.numpy(), Y.numpy(), ("x0", "x1")),
        (X.tolist(), Y.tolist(), ("x0", "x1")),
        (FRAME, SERIES, ("speed", "angle")),
        (FRAME, SERIES.to_frame(), ("speed", "angle")),
        (X, Y.unsqueeze(-1), ("x0", "x1")),
    ],
    ids=["tensor", "array", "list", "frame", "frames", "column"],
)
def test_everything_that_holds_numbers_is_read(values, target, names):
    data = read_observations(values, target)
    torch.testing.assert_close(data.X, X)
    torch.testing.assert_close(data.y, Y)
    assert data.column_names == names
    assert data.target_name == ("lift" if "speed" in names else "y")
    assert data.X.dtype == data.y.dtype == data.bounds.dtype == torch.float64


@pytest.mark.parametrize(
    ("values", "name"),
    [(X[:, 0], "x0"), (FRAME["speed"], "speed"), (X[:, 0].tolist(), "x0")],
    ids=["tensor", "series", "list"],
)
def test_a_vector_is_one_column(values, name):
    data = read_observations(values, Y)
    assert data.X.shape == (N, 1)
    assert data.column_names == (name,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_keep_their_dtype_and_are_not_shared(dtype):
    data = read_observations(X.to(dtype), Y.to(dtype), [(0, 1), (0, 1)], 0.1)
    for part in (data.X, data.y, data.bounds, data.noise):
        assert part is not None
        assert part.dtype == dtype
    own = FRAME.copy()
    read_observations(own, SERIES).X.zero_()
    assert own.equals(FRAME)


def test_integers_and_booleans_become_float64():
    data = read_observations([[0, 1], [1, 0], [1, 1]], [True, False, True])
    assert data.X.dtype == data.y.dtype == torch.float64
    assert read_observations(torch.arange(3), torch.arange(3)).X.dtype == torch.float64


BOUNDS = [[-1.0, 0.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    "bounds",
    [
        [(-1, 2), (0, 3)],
        np.array([(-1, 2), (0, 3)]),
        {"angle": (0, 3), "speed": (-1, 2)},
        torch.tensor(BOUNDS),
    ],
    ids=["pairs", "array", "by name", "2 x d"],
)
def test_bounds_in_every_form(bounds):
    assert read_observations(FRAME, SERIES, bounds).bounds.tolist() == BOUNDS


def test_what_was_assumed_is_noted():
    data = read_observations(X, Y, [(0, 1), (0, 1)])
    assert data.notes == ()
    data = read_observations(FRAME.assign(angle=2.0), SERIES)
    assert data.bounds.tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert "the range of the data is used" in data.notes[0]
    assert "'angle' is constant" in data.notes[1]
    data = read_observations(REPEATED, Y, [(0, 1), (0, 1)])
    assert data.notes == ("3 of 6 rows repeat the inputs of another",)


def test_noise_of_one_number_or_n():
    single = read_observations(X, Y, noise=0.25).noise
    assert single is not None
    assert single.tolist() == [0.25] * N
    each = read_observations(X, Y, noise=Y.unsqueeze(-1)).noise
    assert each is not None
    torch.testing.assert_close(each, Y)
    same = torch.cat([Y[:3], Y[:3]])
    assert read_observations(REPEATED, same, noise=0.0).noise is not None


def test_points_on_the_bounds_are_inside():
    box = [(X[:, 0].min().item(), X[:, 0].max().item()), (0.0, 1.0 - 1e-12)]
    read_observations(X, Y, box)
    with pytest.raises(BoundsError, match=re.escape("'x1' is 1 in row 5")):
        read_observations(X, Y, [(0.0, 1.0), (0.0, 1.0 - 1e-6)])


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (torch.rand(4, 1).half(), torch.rand(4).half(), DataError, "float16"),
        (torch.eye(4).to_sparse(), torch.rand(4), DataError, "to_dense"),
        (pd.DataFrame(index=range(4)), [1, 2, 3, 4], ShapeError, "no columns"),
        (
            pd.DataFrame({"a": [1, 2, 3]}),
            pd.Series([1, 2, 3], index=[2, 1, 0]),
            DataError,
            "different indexes",
        ),
        (pd.DataFrame({"a": [1j, 2j]}), [1, 2], DataError, "complex128"),
        ([[0.0], [1.0]], [1e-200, 2e-200], DataError, "multiply it"),
        ([[0.0], [1.0]], [1e200, -2e200], DataError, "multiply it"),
    ],
)
def test_more_that_cannot_be_used(X, y, error, message):
    with pytest.raises(error, match=message):
        read_observations(X, y)


def test_bounds_by_names_that_are_numbers():
    X = pd.DataFrame({0: [0.0, 1.0], 1: [2.0, 3.0]})
    data = read_observations(X, [1.0, 2.0], bounds={0: (0, 1), 1: (0, 4)})
    assert data.bounds.tolist() == [[0.0, 0.0], [1.0, 4.0]]
