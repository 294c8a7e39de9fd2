from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bokern.errors import InputError
from bokern.reporting import caption_of, structure_probabilities
from bokern.reporting.structure_history import MOST_STRUCTURES
from tests.reporting.fakes import make_history, make_optimization


def test_probabilities_are_stacked_by_trial() -> None:
    figure = structure_probabilities(
        make_optimization(structure_history=make_history())
    )
    assert [trace.name for trace in figure.data] == ["RBF()", "DeepSE()", "Linear()"]
    assert {trace.stackgroup for trace in figure.data} == {"structures"}
    np.testing.assert_allclose(figure.data[0].y, [0.5, 0.5, 0.9, 0.9])
    np.testing.assert_allclose(figure.data[2].y, [0.2, 0.2, 0.0, 0.0])
    np.testing.assert_allclose(sum(np.array(t.y) for t in figure.data), 1.0)
    assert list(figure.data[0].x) == [4, 5, 6, 7]
    assert "3 structures, compared 2 times" in caption_of(figure)


def test_many_structures_are_summed_into_one() -> None:
    count = MOST_STRUCTURES + 3
    weights = np.arange(count, 0, -1) / np.arange(1, count + 1).sum()
    history = pd.DataFrame(
        {
            "trial": 1,
            "metric": "y",
            "structure": [f"S{i}" for i in range(count)],
            "probability": weights,
            "searched_at": 5,
        }
    )
    figure = structure_probabilities(history)
    assert len(figure.data) == MOST_STRUCTURES + 1
    assert figure.data[-1].name == "others"
    assert figure.data[-1].y[0] == pytest.approx(weights[MOST_STRUCTURES:].sum())


def test_one_of_several_metrics_is_drawn() -> None:
    history = make_history()
    other = history.assign(metric="cost", probability=history["probability"][::-1])
    both = pd.concat([history, other])
    first = structure_probabilities(both)
    np.testing.assert_allclose(first.data[0].y, [0.5, 0.5, 0.9, 0.9])
    assert structure_probabilities(both, "cost").data
    with pytest.raises(InputError, match="expected a metric among"):
        structure_probabilities(both, "none")


def test_nothing_compared_is_refused() -> None:
    with pytest.raises(InputError, match="compared structures"):
        structure_probabilities(make_optimization())
