"""Parameters as figures draw them and models read them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bokern.errors import InputError
from bokern.optimize import choice
from bokern.optimize.space import read_space
from bokern.reporting.axes import Axis

SPACE = {
    "x": (-1.0, 3.0),
    "lr": (1e-5, 1e-1, "log"),
    "n": (1, 9),
    "w": (1, 1000, "log"),
    "layers": [1, 2, 8],
    "kind": choice("relu", "tanh", "elu"),
    "flag": [False, True],
}
AXES = {p.name: Axis.of(p) for p in read_space(SPACE)}


def test_places_of_values() -> None:
    assert AXES["x"].places([0.5]).tolist() == [0.5]
    assert AXES["layers"].places([8, 1]).tolist() == [2.0, 0.0]
    assert AXES["kind"].places(["tanh"]).tolist() == [1.0]
    assert AXES["flag"].places([True, np.bool_(False)]).tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match=r"'kind' is one of .* got 'sine'"):
        AXES["kind"].places(["sine"])
    with pytest.raises(InputError, match=r"'x' is a number, got 'a'"):
        AXES["x"].places(["a"])
    with pytest.raises(InputError, match="one of"):
        AXES["layers"].places([True])


def test_columns_are_those_that_structures_of_ax_name() -> None:
    kind = AXES["kind"]
    assert kind.columns == ("kind_OH_PARAM_0", "kind_OH_PARAM_1", "kind_OH_PARAM_2")
    assert kind.encode(np.array([2.0, 0.0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert kind.box == [(0.0, 1.0)] * 3
    assert AXES["lr"].box == [(-5.0, -1.0)]
    np.testing.assert_allclose(AXES["lr"].encode(np.array([1e-3])), [[-3.0]])
    assert AXES["layers"].box == [(0.0, 2.0)]


@pytest.mark.parametrize("name", list(SPACE))
@given(unit=st.floats(0.0, 1.0))
def test_every_quantile_lies_in_the_box_that_the_model_reads(
    name: str, unit: float
) -> None:
    axis = AXES[name]
    place = axis.at(np.array([unit]))
    assert axis.low <= place[0] <= axis.high
    low, high = np.array(axis.box).T
    assert (axis.encode(place) >= low).all()
    assert (axis.encode(place) <= high).all()
    assert 0.0 <= axis.share(place)[0] <= 1.0
    assert axis.away(place, place[0]) == 0.0


@pytest.mark.parametrize("name", list(SPACE))
def test_quantiles_are_those_of_the_search_space(name: str) -> None:
    (parameter,) = (p for p in read_space(SPACE) if p.name == name)
    units = np.linspace(0.0, 1.0, 41)
    expected = AXES[name].places([parameter.at(float(u)) for u in units])
    np.testing.assert_allclose(AXES[name].at(units), expected, rtol=1e-12)


def test_grids_are_even_on_the_scale() -> None:
    np.testing.assert_allclose(AXES["lr"].grid(5), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    assert AXES["n"].grid(100).tolist() == list(range(1, 10))
    assert AXES["kind"].grid(100).tolist() == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(AXES["lr"].share(AXES["lr"].grid(5)), np.arange(5) / 4)


def test_values_without_an_order_are_all_equally_far() -> None:
    assert AXES["kind"].away(np.array([0.0, 1.0, 2.0]), 0.0).tolist() == [0, 1, 1]
    assert AXES["layers"].away(np.array([0.0, 1.0, 2.0]), 0.0).tolist() == [0, 0.5, 1]


def test_many_categories_are_named_at_steps() -> None:
    axis = Axis("c", 0.0, 99.0, values=tuple(range(100)))
    where, names = axis.ticks()
    assert len(where) == len(names) <= 12
    assert names[1] == str(int(where[1]))


def test_text_of_values() -> None:
    shown = [AXES[n].shown(v) for n, v in (("n", 3.0), ("kind", 2.0), ("x", 0.25))]
    assert shown == ["3", "elu", "0.25"]
