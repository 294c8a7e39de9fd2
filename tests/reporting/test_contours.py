"""Contours show the model's mean, and the data where they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from bokern.errors import InputError, ShapeError
from bokern.optimize import choice
from bokern.reporting import caption_of, modelled, posterior_contours
from tests.reporting.fakes import FakeOptimization, make_comparison, make_course

SPACE = {
    "x": (0.0, 1.0),
    "lr": (1e-4, 1e-1, "log"),
    "idle": (0.0, 1.0),
    "kind": choice("relu", "tanh"),
}


def loss(point: dict) -> float:
    return (math.log10(point["lr"]) + 2.5) ** 2 + 4.0 * (point["x"] - 0.3) ** 2


@pytest.fixture(scope="module")
def result() -> FakeOptimization:
    return make_course(SPACE, loss, 40)


def test_values_are_the_posterior_mean_at_the_grid(result: FakeOptimization) -> None:
    data = modelled(result)
    surface, points, _ = posterior_contours(data, ["x", "lr"]).data
    best = result.trials.loc[result.trials["value"].argmin()]
    kinds = [float(best["kind"] == kind) for kind in ("relu", "tanh")]
    for i, j in ((0, 0), (7, 30), (40, 3), (40, 40)):
        inputs = [surface.x[i], math.log10(surface.y[j]), best["idle"], *kinds]
        X = torch.tensor([inputs], dtype=torch.float64)
        mean = data.model.posterior(X).mean.item()
        assert surface.z[j][i] == pytest.approx(mean, rel=1e-8)
    np.testing.assert_allclose(points.x, result.trials["x"])
    np.testing.assert_allclose(points.y, result.trials["lr"])
    np.testing.assert_allclose(points.marker.color, result.trials["value"])


def test_the_two_parameters_that_matter_most_are_taken(
    result: FakeOptimization,
) -> None:
    figure = posterior_contours(result)
    titles = [figure.layout.xaxis.title.text, figure.layout.yaxis.title.text]
    assert titles == ["lr", "x"]
    assert figure.layout.xaxis.type == "log"
    np.testing.assert_allclose(figure.layout.xaxis.range, [-4.0, -1.0])
    assert "the best trial, where the other parameters stay (idle = " in (
        caption_of(figure)
    )


def test_swapping_the_names_transposes_the_figure(result: FakeOptimization) -> None:
    data = modelled(result)
    one = posterior_contours(data, ["x", "idle"]).data[0]
    other = posterior_contours(data, ["idle", "x"]).data[0]
    np.testing.assert_allclose(one.z, np.transpose(other.z), rtol=1e-9)


def test_points_fade_with_distance_from_the_plane_and_with_nothing_else() -> None:
    kinds = ["relu", "relu", "relu", "tanh"]
    result = make_course(SPACE, loss, 4)
    result.trials["kind"] = kinds
    result.trials["idle"] = [0.5, 0.5, 1.0, 0.5]
    at = {"x": 0.3, "lr": 1e-3, "idle": 0.5, "kind": "relu"}
    figure = posterior_contours(result, ["x", "lr"], at=at)
    on, too, off, other = figure.data[1].marker.opacity
    assert on == too == pytest.approx(0.9)
    # Half a length in one of two others: 2^-((.5² / 2) / .25²) = 1/4 of .5.
    assert off == pytest.approx(0.4 + 0.5 / 4, abs=1e-3)
    # Another category counts as a whole length.
    assert other == pytest.approx(0.4 + 0.5 / 2**8, abs=1e-3)


def test_over_a_choice_there_are_cells(result: FakeOptimization) -> None:
    figure = posterior_contours(result, ["kind", "x"])
    assert figure.data[0].type == "heatmap"
    assert np.shape(figure.data[0].z) == (41, 2)
    assert figure.layout.xaxis.ticktext == ("relu", "tanh")
    assert set(figure.data[1].x) == {0.0, 1.0}


def test_of_a_comparison_and_at_a_point() -> None:
    comparison = make_comparison(3)
    at = [2.0, 5.0, 7.0]
    surface, _, mark = posterior_contours(
        comparison, ["input 0", "input 2"], at=at
    ).data
    assert (mark.x[0], mark.y[0]) == (2.0, 7.0)
    points = torch.tensor([[surface.x[5], 5.0, surface.y[9]]], dtype=torch.float64)
    mean = comparison.model().posterior(points).mean.item()
    assert surface.z[9][5] == pytest.approx(mean, rel=1e-8)


def test_refuses_what_is_no_pair(result: FakeOptimization) -> None:
    data = modelled(result)
    with pytest.raises(InputError, match="two parameters or more"):
        posterior_contours(make_comparison(1))
    with pytest.raises(InputError, match="names of two parameters, got 'lr'"):
        posterior_contours(data, "lr")
    with pytest.raises(InputError, match="two different parameters"):
        posterior_contours(data, ["lr", "lr"])
    with pytest.raises(InputError, match=r"a parameter among .* got 'z'"):
        posterior_contours(data, ["lr", "z"])
    with pytest.raises(ShapeError, match="none for"):
        posterior_contours(data, ["lr", "x"], at={"x": 0.1})
