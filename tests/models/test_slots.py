from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bokern.models.slots import MAX_SLOTS, WEIGHT_TOLERANCE, allocate_slots


@pytest.mark.property
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12).filter(
        lambda w: sum(w) > 0.01
    )
)
def test_shares_are_close_to_the_weights(raw):
    weights = torch.tensor(raw, dtype=torch.float64)
    weights = weights / weights.sum()
    slots = allocate_slots(weights)
    assert len(slots) <= MAX_SLOTS
    shares = torch.bincount(slots, minlength=len(raw)) / len(slots)
    assert (shares - weights).abs().max() <= WEIGHT_TOLERANCE + 1e-12


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1.0], [0]),
        ([0.5, 0.5], [0, 1]),
        ([0.75, 0.25], [0, 0, 0, 1]),
        ([0.0, 1.0], [1]),
        ([0.98, 0.02], [0]),
        ([[0.75, 0.25], [0.25, 0.75]], [[0, 0, 0, 1], [0, 1, 1, 1]]),
    ],
)
def test_the_fewest_slots_are_used(weights, expected):
    found = allocate_slots(torch.tensor(weights, dtype=torch.float64))
    assert found.tolist() == expected
