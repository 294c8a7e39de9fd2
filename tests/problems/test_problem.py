from __future__ import annotations

import pytest
import torch

from bokern.errors import ColumnError, InputError, ShapeError
from bokern.problems import Branin, Gramacy2D


def test_a_call_takes_parameters_in_any_order():
    problem = Gramacy2D()
    X = torch.tensor([[0.5, -1.0]], dtype=torch.float64)
    assert problem({"x2": -1.0, "x1": 0.5}) == problem.evaluate(X).item()


def test_space_has_a_range_for_each_parameter():
    assert Branin().space == {"x1": (-5.0, 10.0), "x2": (0.0, 15.0)}
    assert Branin().dim == 2


@pytest.mark.parametrize(
    "parameters", [{}, {"x1": 0.0}, {"x1": 0.0, "x2": 0.0, "x3": 0.0}]
)
def test_unknown_or_missing_parameters_are_named(parameters):
    with pytest.raises(ColumnError, match="expects the parameters x1, x2") as caught:
        Branin()(parameters)
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize("shape", [(2,), (3, 1), (1, 3, 2)])
def test_wrong_shapes_are_refused(shape):
    with pytest.raises(ShapeError, match="n x 2"):
        Branin().evaluate(torch.zeros(shape, dtype=torch.float64))
