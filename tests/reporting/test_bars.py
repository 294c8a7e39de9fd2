from __future__ import annotations

import numpy as np

from bokern.reporting import caption_of, evidence_bars
from bokern.reporting.theme import family_colour
from tests.reporting.fakes import FakeComparison


def _markers(figure):
    points = [trace for trace in figure.data if trace.type == "scatter"]
    return [trace for trace in points if trace.showlegend is False]


def test_shows_the_gap_of_each_structure_in_nats(comparison: FakeComparison) -> None:
    shown = {
        row: (x, error)
        for trace in _markers(evidence_bars(comparison))
        for row, x, error in zip(trace.y, trace.x, trace.error_x.array, strict=True)
    }
    expected = comparison.table["gap"].to_numpy()
    np.testing.assert_allclose([shown[row][0] for row in range(4)], expected)
    np.testing.assert_allclose([shown[row][1] for row in range(4)], [0.2, 0.2, 0.3, 0])


def test_colours_follow_the_family_and_hollow_markers_the_flags(
    comparison: FakeComparison,
) -> None:
    for trace in _markers(evidence_bars(comparison)):
        assert trace.marker.color == family_colour(trace.name)
        for row, symbol in zip(trace.y, trace.marker.symbol, strict=True):
            assert (symbol == "circle-open") == bool(comparison.table["flags"][row])


def test_flags_stand_beside_their_structure(comparison: FakeComparison) -> None:
    texts = {note.y: note.text for note in evidence_bars(comparison).layout.annotations}
    assert texts[0] == "best"
    assert texts[3] == "−21.0 AT_BOUND NOT_AT_OPTIMUM"


def test_a_single_structure_can_be_drawn(comparison: FakeComparison) -> None:
    comparison.table = comparison.table[:1]
    assert len(_markers(evidence_bars(comparison))) == 1


def test_caption_names_the_unit(comparison: FakeComparison) -> None:
    assert "in nats" in caption_of(evidence_bars(comparison))
