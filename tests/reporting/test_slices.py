from __future__ import annotations

import numpy as np
import pytest
import torch
from botorch.models import ModelListGP, SingleTaskGP

from bokern.errors import InputError, ShapeError
from bokern.models import MixtureGP
from bokern.reporting import caption_of, posterior_slices
from bokern.selection import compare
from tests.reporting.fakes import FakeComparison, make_comparison


def _named(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def test_one_column_shows_the_posterior_and_the_data(
    comparison: FakeComparison,
) -> None:
    figure = posterior_slices(comparison)
    (mean,) = _named(figure, "posterior mean")
    (band,) = _named(figure, "± 2 sd")
    (data,) = _named(figure, "data")
    grid = torch.as_tensor(np.array(mean.x))
    posterior = comparison.model().posterior(grid.unsqueeze(-1))
    sd = posterior.variance.sqrt().squeeze(-1).detach().numpy()
    expected = posterior.mean.squeeze(-1).detach().numpy()
    np.testing.assert_allclose(mean.y, expected, rtol=1e-9)
    np.testing.assert_allclose(band.y[: len(grid)], expected - 2 * sd, rtol=1e-9)
    np.testing.assert_allclose(band.y[len(grid) :][::-1], expected + 2 * sd, rtol=1e-9)
    np.testing.assert_allclose(data.x, comparison.X[:, 0])
    np.testing.assert_allclose(data.y, comparison.y)


@pytest.mark.parametrize("average", [False, True])
def test_a_skewed_posterior_shows_its_central_interval(average) -> None:
    X = torch.rand(12, 1, dtype=torch.float64)
    y = (2.0 * torch.sin(6.0 * X[:, 0])).exp()
    found = compare(["RBF()", "Matern(2.5)"], X, y, outcome="log", starts=1)
    model = found.model(average=average)
    figure = posterior_slices(model)
    (mean,) = _named(figure, "posterior mean")
    (band,) = _named(figure, "central 95 %")
    assert "the central 95 % of the noise-free function" in caption_of(figure)
    low, high = band.y[: len(mean.x)], band.y[len(mean.x) :][::-1]
    assert low.min() > 0.0
    torch.manual_seed(0)
    grid = torch.as_tensor(np.array(mean.x))[::50].unsqueeze(-1)
    draws = model.posterior(grid.unsqueeze(1)).rsample(torch.Size([4000]))
    draws = draws.detach().movedim(0, -1).reshape(len(grid), -1).numpy()
    inside = ((draws > low[::50, None]) & (draws < high[::50, None])).mean(-1)
    np.testing.assert_allclose(inside, 0.9545, atol=0.02)


def test_the_other_columns_stay_at_the_point_asked_for() -> None:
    comparison = make_comparison(2)
    at = {"input 0": 2.0, "input 1": 5.0}
    first, second = _named(posterior_slices(comparison, at=at), "posterior mean")
    for trace, column in ((first, 0), (second, 1)):
        points = torch.tensor([2.0, 5.0], dtype=torch.float64).repeat(len(trace.x), 1)
        points[:, column] = torch.as_tensor(np.array(trace.x))
        mean = comparison.model().posterior(points).mean.squeeze(-1).detach()
        np.testing.assert_allclose(trace.y, mean, rtol=1e-7)


def test_by_default_the_reference_is_an_observed_point() -> None:
    comparison = make_comparison(3)
    figure = posterior_slices(comparison)
    reference = comparison.X.new_tensor([line.x0 for line in figure.layout.shapes])
    assert (comparison.X - reference).abs().sum(-1).min() < 1e-12
    assert "observed point nearest the median" in caption_of(figure)


def test_at_most_so_many_columns_and_it_says_which() -> None:
    comparison = make_comparison(5)
    figure = posterior_slices(comparison, limit=2)
    assert len(_named(figure, "posterior mean")) == 2
    assert "2 of 5 parameters along which the mean varies most" in caption_of(figure)
    every = _named(posterior_slices(comparison), "posterior mean")
    spread = sorted(np.ptp(trace.y) for trace in every)
    shown = sorted(np.ptp(trace.y) for trace in _named(figure, "posterior mean"))
    np.testing.assert_allclose(shown, spread[-2:])


@pytest.mark.parametrize("training", [True, False])
def test_a_bare_model_gives_its_data_back_in_raw_units(
    comparison: FakeComparison, training: bool
) -> None:
    model = comparison.model().train(training)
    figure = posterior_slices(model)
    (data,) = _named(figure, "data")
    np.testing.assert_allclose(data.x, comparison.X[:, 0], rtol=1e-12)
    np.testing.assert_allclose(data.y, comparison.y, rtol=1e-12)


def test_a_mixture_lies_between_its_members() -> None:
    data = make_comparison(1)
    X = data.X / 10
    settings = {"structures": ("RBF()", "Linear()"), "weights": (0.5, 0.5)}
    mixture = MixtureGP(X, data.y.unsqueeze(-1), **settings).eval()
    (mean,) = _named(posterior_slices(mixture), "posterior mean")
    members = [
        _named(posterior_slices(member), "posterior mean")[0].y
        for member in mixture.members
    ]
    np.testing.assert_allclose(mean.y, np.mean(members, axis=0), rtol=1e-8)


def test_refuses_what_is_no_model() -> None:
    with pytest.raises(InputError, match=r"expected a comparison or a fitted model"):
        posterior_slices("Matern(2.5)")


def test_refuses_several_outputs() -> None:
    X = torch.rand(5, 1, dtype=torch.float64)
    with pytest.raises(InputError, match=r"of one output, got 2 outputs"):
        posterior_slices(SingleTaskGP(X, torch.cat([X, X], -1)))
    models = ModelListGP(SingleTaskGP(X, X), SingleTaskGP(X, X))
    with pytest.raises(InputError, match=r"of one output"):
        posterior_slices(models)


def test_refuses_an_incomplete_reference() -> None:
    comparison = make_comparison(2)
    with pytest.raises(ShapeError, match=r"none for \['input 1'\]"):
        posterior_slices(comparison, at={"input 0": 1.0})
    with pytest.raises(ShapeError, match=r"expected 2 values, got 1"):
        posterior_slices(comparison, at=[1.0])
