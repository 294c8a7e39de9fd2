"""Several structures on the same data."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bokern.errors import InputError
from bokern.reporting import caption_of, structure_posteriors
from tests.reporting.fakes import make_comparison, make_optimization


def test_a_line_for_each_structure_is_its_mean() -> None:
    comparison = make_comparison(1)
    figure = structure_posteriors(comparison, structures=3)
    data, *lines = figure.data
    np.testing.assert_allclose(data.y, comparison.y)
    assert [line.name for line in lines] == ["Matern(2.5)", "RBF()", "DeepSE()"]
    for line in lines:
        grid = torch.as_tensor(np.array(line.x)).unsqueeze(-1)
        mean = comparison.model(line.name).posterior(grid).mean.squeeze(-1)
        np.testing.assert_allclose(line.y, mean.detach(), rtol=1e-8)
    assert "the 3 most probable structures" in caption_of(figure)


def test_with_more_columns_those_that_vary_most_are_shown() -> None:
    figure = structure_posteriors(make_comparison(4), structures=2, limit=2)
    assert len(figure.data) == 2 * (1 + 2)
    assert figure.layout.xaxis.title.text == "input 0"
    assert "Shown are 2 of 4 columns" in caption_of(figure)


def test_refuses_an_optimisation() -> None:
    with pytest.raises(InputError, match="expected a comparison"):
        structure_posteriors(make_optimization())  # type: ignore[arg-type]
