"""Sobol' indices of the model's mean."""

from __future__ import annotations

import numpy as np
import pytest

from bokern.errors import DataError
from bokern.optimize import choice
from bokern.reporting import caption_of, modelled, parameter_importances
from bokern.reporting.sensitivity import sensitivity
from tests.reporting.fakes import make_comparison, make_course

CUBE = {"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}
WITHIN = 0.02
"""The estimator's error at its number of points, and the model's."""


def indices(result) -> dict[str, tuple[float, float]]:
    data = modelled(result)
    found = sensitivity(data)
    names = [axis.name for axis in data.axes]
    pairs = zip(found.first.tolist(), found.total.tolist(), strict=True)
    return dict(zip(names, pairs, strict=True))


def test_only_one_of_three_matters() -> None:
    found = indices(make_course(CUBE, lambda p: np.sin(5.0 * p["b"]), 40))
    assert found["b"] == pytest.approx((1.0, 1.0), abs=WITHIN)
    assert found["a"] == pytest.approx((0.0, 0.0), abs=WITHIN)
    assert found["c"] == pytest.approx((0.0, 0.0), abs=WITHIN)


def test_shares_of_a_sum_are_those_of_the_variances() -> None:
    found = indices(make_course(CUBE, lambda p: p["a"] + 2.0 * p["b"], 30))
    assert found["a"] == pytest.approx((0.2, 0.2), abs=WITHIN)
    assert found["b"] == pytest.approx((0.8, 0.8), abs=WITHIN)


def test_a_product_is_interaction() -> None:
    product = make_course(
        {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}, lambda p: p["a"] * p["b"], 50
    )
    for first, total in indices(product).values():
        assert first < 0.1
        assert total > 0.9


def test_a_log_scale_is_uniform_on_its_scale() -> None:
    space = {"a": (0.0, 1.0), "lr": (1e-4, 1.0, "log")}
    found = indices(make_course(space, lambda p: p["a"] + np.log10(p["lr"]), 30))
    # Variances 1/12 and 16/12.
    assert found["lr"] == pytest.approx((16 / 17, 16 / 17), abs=WITHIN)


def test_a_choice_is_one_parameter_whatever_its_columns() -> None:
    space = {"a": (0.0, 1.0), "kind": choice("p", "q", "r")}
    level = {"p": 0.0, "q": 1.0, "r": 2.0}
    found = indices(make_course(space, lambda p: p["a"] + level[p["kind"]], 40))
    # Variances 1/12 and 2/3.
    assert found["kind"] == pytest.approx((8 / 9, 8 / 9), abs=0.04)


def test_neither_the_order_of_trials_nor_of_parameters_matters() -> None:
    def f(p: dict) -> float:
        return p["a"] + 2.0 * p["b"] + p["a"] * p["c"]

    result = make_course(CUBE, f, 30)
    expected = indices(result)
    shuffled = make_course(CUBE, f, 30)
    shuffled.trials = shuffled.trials.sample(frac=1.0, random_state=0)
    turned = make_course(CUBE, f, 30)
    turned.space = dict(reversed(CUBE.items()))
    for other in (indices(shuffled), indices(turned)):
        for name, pair in expected.items():
            assert other[name] == pytest.approx(pair, abs=WITHIN)


def test_the_figure_has_the_largest_first() -> None:
    result = make_course(CUBE, lambda p: p["a"] + 2.0 * p["b"], 30)
    figure = parameter_importances(result)
    total, first = figure.data
    assert figure.layout.yaxis.ticktext == ("b", "a", "c")
    assert (total.name, first.name) == (
        "total, with interactions",
        "first order, by itself",
    )
    np.testing.assert_allclose(total.x, [80.0, 20.0, 0.0], atol=100 * WITHIN)
    assert (np.array(first.x) <= np.array(total.x)).all()
    assert "30 observations" in caption_of(figure)


def test_of_a_comparison() -> None:
    figure = parameter_importances(make_comparison(3))
    assert figure.layout.yaxis.ticktext[0] == "input 0"


def test_no_effect_is_said() -> None:
    result = make_course(CUBE, lambda p: 0.0, 10)
    noise = np.random.default_rng(0).normal(size=10)
    result.trials["value"] = noise
    result.trials.loc[:, ["a", "b", "c"]] = 0.5
    with pytest.raises(DataError, match="sees no effect of any parameter on 'value'"):
        parameter_importances(result)
