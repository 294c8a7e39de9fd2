from __future__ import annotations

import numpy as np
import pytest
import torch

from bokern.reporting import caption_of, decomposition, variance_shares
from tests.reporting.fakes import FakeComparison, make_comparison


def _named(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def test_each_part_of_one_input_has_its_panel(comparison: FakeComparison) -> None:
    explanation = comparison.explain()
    figure = decomposition(comparison)
    means = _named(figure, "posterior mean")
    bands = _named(figure, "± 2 sd of the shape")
    points = _named(figure, "data less the other parts")
    assert len(means) == len(bands) == len(points) == len(explanation.components) == 2
    every = zip(explanation.components, means, bands, points, strict=True)
    for part, mean, band, left in every:
        (cut,) = part.slices
        np.testing.assert_allclose(mean.x, cut.grid)
        np.testing.assert_allclose(mean.y, cut.mean)
        size = len(cut.grid)
        low, high = cut.mean - 2 * cut.shape_sd, cut.mean + 2 * cut.shape_sd
        np.testing.assert_allclose(band.y[:size], low)
        np.testing.assert_allclose(band.y[size:][::-1], high)
        np.testing.assert_allclose(left.x, comparison.X[:, 0])
        others = sum(
            other.mean for other in explanation.components if other is not part
        )
        expected = comparison.y - explanation.constant - others
        np.testing.assert_allclose(left.y, expected, atol=1e-8)
    assert len({trace.yaxis for trace in means}) == 2
    (residuals,) = [t for t in figure.data if t.name is None]
    np.testing.assert_allclose(residuals.y, explanation.residual)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert [text.split(".")[0] for text in texts] == ["1", "2", "3"]
    assert "in the units of the data" in caption_of(figure)


def test_several_inputs_have_a_panel_each() -> None:
    comparison = make_comparison(3, structure="Linear(columns=[1]) + RBF()")
    figure = decomposition(comparison)
    titles = [
        axis.title.text
        for axis in figure.select_xaxes()
        if axis.visible is not False and axis.title.text
    ]
    assert sorted(titles) == [
        "input 0",
        "input 1",
        "input 1",
        "input 2",
        "row of the data",
    ]
    assert "observed point nearest the median" in caption_of(figure)
    alone = [
        trace
        for trace in _named(figure, "data less the other parts")
        if len(set(trace.marker.opacity)) == 1
    ]
    assert len(alone) == 1  # a part of one input is the same on every slice


def test_parts_and_inputs_that_are_left_out_are_said() -> None:
    many = make_comparison(
        5,
        structure=" + ".join(f"RBF(columns=[{j % 5}])" for j in range(5))
        + " + "
        + " + ".join(f"Matern(2.5, columns=[{j}])" for j in range(5)),
    )
    assert "the 8 largest of 10 parts" in caption_of(decomposition(many))
    wide = make_comparison(5, structure="RBF()")
    figure = decomposition(wide)
    assert len(_named(figure, "posterior mean")) == 3
    assert "the 3 inputs along which it varies most" in caption_of(figure)


def test_an_explanation_may_be_drawn_itself(comparison: FakeComparison) -> None:
    explanation = comparison.explain()
    again = decomposition(explanation)
    np.testing.assert_allclose(
        again.data[1].y, explanation.components[0].slices[0].mean
    )
    assert caption_of(again) == caption_of(decomposition(comparison))


def test_shares_add_up_to_100(comparison: FakeComparison) -> None:
    explanation = comparison.explain()
    (bars,) = variance_shares(comparison).data
    assert sum(bars.x) == pytest.approx(100.0)
    assert bars.x[0] == 100.0 * explanation.components[0].share
    names = variance_shares(comparison).layout.yaxis.ticktext
    assert names[-2:] == ("noise", "shared by parts")
    assert list(names[:-2]) == [c.structure for c in explanation.components]


def test_a_negative_share_has_room(comparison: FakeComparison) -> None:
    figure = variance_shares(comparison)
    low, high = figure.layout.xaxis.range
    (bars,) = figure.data
    assert low <= min(bars.x)
    assert high > max(bars.x)
    assert torch.isfinite(torch.tensor(bars.x)).all()
