"""Hidden functions, where they are given values, and the space that they make."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch
from botorch.models.transforms import Normalize

from bokern.errors import InputError
from bokern.models import StructuredGP
from bokern.reporting import caption_of, hidden_functions
from tests.reporting.fakes import make_course

BOX = torch.tensor([[-2.0, 10.0], [2.0, 30.0]], dtype=torch.float64)


def model_of(structure: str, dim: int, n: int = 15) -> StructuredGP:
    """Not fitted, but with hyperdata that bend."""
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(n, dim, generator=generator, dtype=torch.float64)
    X = BOX[0, :dim] + (BOX[1, :dim] - BOX[0, :dim]) * unit
    Y = torch.sin(4.0 * unit).sum(-1, keepdim=True)
    transform = Normalize(dim, bounds=BOX[:, :dim])
    model = StructuredGP(X, Y, input_transform=transform, structure=structure)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("raw_whitened"):
                steps = torch.linspace(-1.0, 1.0, parameter.numel())
                parameter.copy_(steps.reshape(parameter.shape))
    model.bounds = BOX[:, :dim]
    return model.eval()


def drawn(figure, column: int, name: str | None = None, mode: str = "lines"):
    axis = f"x{column if column > 1 else ''}"
    return [
        trace
        for trace in figure.data
        if trace.xaxis == axis
        and getattr(trace, "mode", None) == mode
        and (name is None or trace.name == name)
    ]


def test_one_parameter() -> None:
    model = model_of("Linear() + ConditionalDeep(hyperdata=4)", 1)
    figure = hidden_functions(model)
    (given,) = drawn(figure, 1, "given", "markers")
    np.testing.assert_allclose(given.x, np.linspace(-2.0, 2.0, 4))
    (kernel,) = (m for m in model.covar_module.modules() if hasattr(m, "hyperdata"))
    places = torch.linspace(0.0, 1.0, 4, dtype=torch.float64).unsqueeze(-1)
    mean, variance = kernel.latent(places)
    np.testing.assert_allclose(given.y, mean.detach().squeeze(-1), rtol=1e-9)
    assert variance.max() < 1e-6
    (curve,) = (t for t in drawn(figure, 1) if t.fill is None)
    at = np.interp(-1.0, curve.x, curve.y)
    exact = kernel.latent(torch.tensor([[0.25]], dtype=torch.float64))[0].item()
    assert at == pytest.approx(exact, abs=1e-3)
    (seen,) = drawn(figure, 2, "data", "markers")
    assert sorted(seen.y) == pytest.approx(sorted(model.raw_targets.flatten().tolist()))
    assert "ConditionalDeep(hyperdata=4)" in caption_of(figure)
    assert "two standard deviations" in caption_of(figure)


def test_two_parameters_bend_the_grid_of_the_box() -> None:
    model = model_of("ConditionalDeep()", 2)
    figure = hidden_functions(model)
    (given,) = drawn(figure, 1, "given", "markers")
    assert (np.array(given.y) >= 10.0).all()
    threads = drawn(figure, 2)
    assert len(threads) == 26
    corner = model.covar_module.base_kernel.latent(torch.zeros(1, 2).double())[0]
    expected = corner.detach().numpy()[0]
    found = [[t.x[0], t.y[0]] for t in threads]
    assert np.isclose(found, expected).all(1).any()
    assert "the box's grid" in caption_of(figure)


def test_one_hidden_function_of_two_parameters() -> None:
    figure = hidden_functions(model_of("ConditionalDeep(mean='zero')", 2))
    assert drawn(figure, 2) == []
    assert len(drawn(figure, 2, "data", "markers")[0].x) == 15


def test_nothing_given() -> None:
    figure = hidden_functions(model_of("ConditionalDeep(hyperdata=0)", 1))
    assert drawn(figure, 1, "given", "markers") == []


def test_of_an_optimisation_on_a_log_scale() -> None:
    rows = [("value", "ConditionalDeep(RBF(columns=['lr']), hyperdata=3)", 1.0)]
    board = pd.DataFrame(rows, columns=["outcome", "structure", "probability"])
    space = {"x": (0.0, 1.0), "lr": (1e-4, 1e-1, "log")}
    result = make_course(
        space, lambda p: math.sin(3 * math.log10(p["lr"])), 14, leaderboard=board
    )
    figure = hidden_functions(result)
    (given,) = drawn(figure, 1, "given", "markers")
    np.testing.assert_allclose(given.x, [1e-4, 10**-2.5, 1e-1], rtol=1e-9)
    assert figure.layout.xaxis.type == "log"


def test_of_whole_numbers() -> None:
    rows = [("value", "ConditionalDeep(hyperdata=3)", 1.0)]
    board = pd.DataFrame(rows, columns=["outcome", "structure", "probability"])
    space = {"n": (1, 6)}
    result = make_course(space, lambda p: math.sin(p["n"]), 14, leaderboard=board)
    (curve,) = (t for t in drawn(hidden_functions(result), 1) if t.fill is None)
    np.testing.assert_array_equal(curve.x, np.arange(1.0, 7.0))


def test_what_has_no_hidden_functions_to_draw() -> None:
    with pytest.raises(
        InputError, match=r"a part such as ConditionalDeep\(\), got RBF"
    ):
        hidden_functions(model_of("RBF()", 1))
    X = torch.rand(8, 3, dtype=torch.float64)
    model = StructuredGP(X, X.sum(-1, keepdim=True), structure="ConditionalDeep()")
    with pytest.raises(InputError, match="one or two numbers"):
        hidden_functions(model.eval())
    with pytest.raises(InputError, match="of warped ones"):
        hidden_functions(model_of("Linear() + Kumaraswamy(ConditionalDeep())", 1))
