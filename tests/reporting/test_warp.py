"""What a learned warp multiplies by and adds, and the data over what comes out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize

from bokern import choice
from bokern.errors import InputError
from bokern.evidence.data import raw_data
from bokern.kernels import WarpKernel
from bokern.models import StructuredGP
from bokern.reporting import caption_of, learned_warp, report
from bokern.reporting.warp import has_warp
from tests.kernels.examples import randomise
from tests.reporting.fakes import make_comparison, make_course

BOX = torch.tensor([[-2.0, 10.0, 0.0], [2.0, 30.0, 1.0]], dtype=torch.float64)
NAMES = ("a", "b", "c")
SPREAD = math.sqrt(12.0)
NOISE = 0.15


def model_of(structure: str, dim: int, n: int = 15) -> StructuredGP:
    """Not fitted, but with pseudo-targets that bend."""
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(n, dim, generator=generator, dtype=torch.float64)
    box = BOX[:, :dim]
    X = box[0] + (box[1] - box[0]) * unit
    Y = torch.sin(4.0 * unit).sum(-1, keepdim=True)
    transform = Normalize(dim, bounds=box)
    model = StructuredGP(X, Y, input_transform=transform, structure=structure)
    randomise(model.covar_module)
    model.bounds, model.column_names = box, NAMES[:dim]
    return model.eval()


def kernel_of(model) -> WarpKernel:
    (found,) = (m for m in model.covar_module.modules() if isinstance(m, WarpKernel))
    return found


def scaled(X):
    """Raw inputs in standard deviations of uniform ones about the centre."""
    box = BOX[:, : X.shape[-1]]
    return SPREAD * ((X - box[0]) / (box[1] - box[0]) - 0.5)


def conditioned(kernel, name, x):
    """Mean, ``n x d``, and standard deviation, ``n x 1``, of layer 1 at ``x``."""
    scale = getattr(kernel, f"raw_{name}_scale")[0].exp()
    lengthscale = getattr(kernel, f"raw_{name}_lengthscale")[0].exp()
    Z, v = kernel.places.values, getattr(kernel, f"raw_{name}")[0]

    def covariance(a, b):
        square = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
        return scale**2 * torch.exp(-0.5 * (square / lengthscale) ** 2)

    K = covariance(Z, Z) + NOISE**2 * torch.eye(len(Z), dtype=Z.dtype)
    k = covariance(x, Z)
    mean = k @ torch.linalg.solve(K, torch.linalg.cholesky(K) @ v)
    variance = scale**2 - (k * torch.linalg.solve(K, k.mT).mT).sum(-1)
    return mean.detach(), variance.sqrt().unsqueeze(-1).detach()


def drawn(figure, panel: int, name: str):
    """The trace of a name on a panel, and its band's lower and upper ends."""
    axis = f"x{panel if panel > 1 else ''}"
    found = [t for t in figure.data if t.xaxis == axis and t.name == name]
    (line,) = (t for t in found if t.fill is None)
    bands = [t for t in found if t.fill is not None]
    m = len(line.x)
    return (line, *((b.y[:m], b.y[m:][::-1]) for b in bands))


def still(model) -> StructuredGP:
    """The same model with targets of 0 and scales that vanish."""
    kernel = kernel_of(model)
    for name in ("gain", "shift"):
        kernel.initialize_hyperparameter(name, 0.0)
        kernel.initialize_hyperparameter(f"{name}_scale", 1e-9)
    return model


@pytest.mark.oracle
@pytest.mark.parametrize("parameter", ["b", 2])
def test_the_functions_are_conditioned_processes_along_a_slice(parameter) -> None:
    model = model_of("Linear() + SSWIM(frequencies=6)", 3)
    at = {"a": 0.7, "b": 12.0, "c": 0.9}
    figure = learned_warp(model, parameter=parameter, at=at)
    i = {"b": 1, 2: 2}[parameter]
    kernel = kernel_of(model)
    line, _ = drawn(figure, 2, "times ĝ")
    X = torch.tensor(list(at.values()), dtype=torch.float64).repeat(len(line.x), 1)
    X[:, i] = torch.tensor(np.array(line.x))
    for name, words, identity in (("gain", "times ĝ", 1.0), ("shift", "plus ĥ", 0.0)):
        line, (low, high) = drawn(figure, 2, words)
        mean, sd = conditioned(kernel, name, scaled(X))
        expected = identity + mean[:, i].numpy()
        np.testing.assert_allclose(line.y, expected, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(high - low, 4.0 * sd[:, 0], rtol=1e-6, atol=1e-7)
    assert figure.layout.xaxis2.title.text == NAMES[i]
    assert "the others of 3 parameters stay at" in caption_of(figure)


@pytest.mark.oracle
def test_each_observation_is_warped_at_its_own_parameters() -> None:
    model = model_of("SSWIM(frequencies=6)", 3)
    figure = learned_warp(model, parameter="a")
    points, *_ = drawn(figure, 3, "data after the warp")
    x = scaled(raw_data(model)[0])
    kernel = kernel_of(model)
    (g, sg), (h, sh) = (conditioned(kernel, name, x) for name in ("gain", "shift"))
    mean = (1.0 + g) * x + h
    sd = (x.square() * sg.square() + sh.square()).sqrt()
    np.testing.assert_allclose(points.x, mean[:, 0], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(points.error_x.array, sd[:, 0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(points.y, model.raw_targets.flatten())


@pytest.mark.oracle
@pytest.mark.parametrize("layers", [1, 2])
def test_what_leaves_a_parameter_as_it_is(layers: int) -> None:
    model = still(model_of(f"SSWIM(frequencies=6, layers={layers})", 2))
    figure = learned_warp(model, parameter="b")
    for layer in range(1, layers + 1):
        of = f", layer {layer}" if layers > 1 else ""
        for words, identity in ((f"times ĝ{of}", 1.0), (f"plus ĥ{of}", 0.0)):
            line, (low, high) = drawn(figure, 2, words)
            for y in (line.y, low, high):
                np.testing.assert_allclose(y, identity, atol=1e-7)
    points, *_ = drawn(figure, 3, "data after the warp")
    np.testing.assert_allclose(points.x, scaled(raw_data(model)[0])[:, 1], atol=1e-7)
    np.testing.assert_allclose(points.error_x.array, 0.0, atol=1e-7)


def test_one_parameter_its_lengthscale_and_its_prediction() -> None:
    model = model_of("SSWIM(frequencies=6)", 1)
    kernel_of(model).initialize_hyperparameter("lengthscale", 0.1)
    figure = learned_warp(model)
    (bar,) = (shape for shape in figure.layout.shapes if shape.name == "lengthscale")
    assert bar.x1 - bar.x0 == pytest.approx(0.1 * SPREAD)
    assert "a lengthscale of 0.35" in caption_of(figure)
    assert "SSWIM(frequencies=6)" in caption_of(figure)
    assert "the others" not in caption_of(figure)
    (line,) = drawn(figure, 4, "posterior mean")
    grid = torch.tensor(np.array(line.x)).unsqueeze(-1)
    expected = model.posterior(grid).mean.detach().flatten()
    np.testing.assert_allclose(line.y, expected, rtol=1e-9)
    for panel in (1, 4):
        (points,) = drawn(figure, panel, "data")
        np.testing.assert_allclose(points.x, raw_data(model)[0][:, 0])
    kernel_of(model).initialize_hyperparameter("lengthscale", 50.0)
    assert all(s.name != "lengthscale" for s in learned_warp(model).layout.shapes)


@pytest.mark.parametrize("shortest", [0, 1])
def test_the_parameter_that_is_moved_most_in_lengthscales_is_drawn(shortest) -> None:
    """Both are moved alike."""
    model = still(model_of("SSWIM(frequencies=6)", 2))
    kernel = kernel_of(model)
    kernel.initialize_hyperparameter("gain_scale", 0.5)
    kernel.initialize_hyperparameter("gain", 1.0)
    lengthscale = torch.full((1, 2), 9.0, dtype=torch.float64)
    lengthscale[0, shortest] = 0.1
    kernel.lengthscale = lengthscale
    assert learned_warp(model).layout.xaxis2.title.text == NAMES[shortest]


def test_a_shift_that_is_the_same_everywhere_is_no_move() -> None:
    model = still(model_of("SSWIM(frequencies=6)", 2))
    kernel = kernel_of(model)
    kernel.lengthscale = 1.0
    kernel.initialize_hyperparameter("shift_scale", 5.0)
    kernel.initialize_hyperparameter("shift_lengthscale", 1e4)
    kernel.initialize_hyperparameter("gain_scale", 0.05)
    for name, column in (("shift", 1), ("gain", 0)):
        targets = torch.zeros(1, 8, 2, dtype=torch.float64)
        targets[..., column] = 1.0
        kernel.initialize_hyperparameter(name, targets)
    assert learned_warp(model).layout.xaxis2.title.text == "a"


def test_the_second_layer_is_given_what_the_first_one_gives() -> None:
    model = model_of("SSWIM(frequencies=6, layers=2)", 1)
    both, second = learned_warp(model), learned_warp(model, layer=2)
    line, _ = drawn(both, 2, "times ĝ, layer 2")
    alone, _ = drawn(second, 2, "times ĝ, layer 2")
    np.testing.assert_array_equal(line.y, alone.y)
    names = {t.name for t in second.data}
    assert "times ĝ, layer 1" not in names
    X = torch.tensor(np.array(line.x)).unsqueeze(-1)
    *_, bend = kernel_of(model).bends((X + 2.0) / 4.0)
    np.testing.assert_allclose(line.y, bend.gain[0].detach().flatten(), rtol=1e-9)
    points, *_ = drawn(second, 3, "data after the warp")
    output = kernel_of(model).warp((raw_data(model)[0] + 2.0) / 4.0)
    np.testing.assert_allclose(points.x, output.mean.detach().flatten(), rtol=1e-9)
    assert "of each of 2 layers" in caption_of(both)
    assert "of layer 2 of 2" in caption_of(second)


def test_many_rows_are_warped_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("SSWIM(frequencies=6, layers=2)", 2)
    whole = learned_warp(model)
    monkeypatch.setattr("bokern.reporting.warp.ENTRIES", 300)
    blocks = learned_warp(model)
    for name, panel in (("data after the warp", 3), ("plus ĥ, layer 2", 2)):
        (one, *_), (other, *_) = drawn(whole, panel, name), drawn(blocks, panel, name)
        np.testing.assert_allclose(one.x, other.x, rtol=1e-9)
        np.testing.assert_allclose(one.y, other.y, rtol=1e-9)


def optimisation(columns: str = ""):
    """Whose last trial came from such a structure."""
    space = {
        "n": (1, 6),
        "kind": choice("p", "q", "r"),
        "size": [8, 16, 32],
        "lr": (1e-4, 1e-1, "log"),
    }
    result = make_course(
        space, lambda p: math.sin(3 * math.log10(p["lr"])) + 0.1 * p["n"], 16
    )
    result.trials.loc[15, "generator"] = f"SSWIM(frequencies=6{columns})"
    return result


def test_of_an_optimisation_with_parameters_of_every_kind() -> None:
    result = optimisation()
    figure = learned_warp(result, parameter="lr")
    line, _ = drawn(figure, 2, "plus ĥ")
    assert [line.x[0], line.x[-1]] == pytest.approx([1e-4, 1e-1])
    types = [figure.layout[f"xaxis{panel}"].type for panel in (2, 3, 4)]
    assert types == ["log", None, "log"]
    whole = learned_warp(result, parameter="n")
    np.testing.assert_array_equal(drawn(whole, 2, "plus ĥ")[0].x, np.arange(1.0, 7.0))
    ordered = learned_warp(result, parameter="size")
    assert list(ordered.layout.xaxis2.ticktext) == ["8", "16", "32"]
    assert ordered.layout.xaxis2.matches is None
    assert all(t.mode in ("lines", "markers") for t in whole.data)
    assert "stay at the best trial" in caption_of(figure)
    with pytest.raises(InputError, match=r"\['n', 'size', 'lr'\], got 'kind'"):
        learned_warp(result, parameter="kind")
    with pytest.raises(InputError, match="got 1"):
        learned_warp(result, parameter=1)


def test_a_warp_of_a_choice_alone_is_not_drawn() -> None:
    one_hot = [f"'kind_OH_PARAM_{i}'" for i in range(3)]
    result = optimisation(f", columns=[{', '.join(one_hot)}]")
    assert not has_warp(result)
    with pytest.raises(InputError, match=r"one of \[\], got None"):
        learned_warp(result)


def test_what_has_no_warp_to_draw() -> None:
    with pytest.raises(InputError, match=r"a part such as SSWIM\(\), got RBF"):
        learned_warp(model_of("RBF()", 1))
    inside = model_of("Linear() + Kumaraswamy(SSWIM(frequencies=6))", 1)
    with pytest.raises(InputError, match="of warped ones"):
        learned_warp(inside)
    X = torch.rand(5, 1, dtype=torch.float64)
    with pytest.raises(InputError, match="got SingleTaskGP"):
        learned_warp(SingleTaskGP(X, X).eval())
    model = model_of("SSWIM(frequencies=6, columns=[1])", 2)
    assert has_warp(model)
    with pytest.raises(InputError, match=r"one of \['b'\], got 'a'"):
        learned_warp(model, parameter="a")
    with pytest.raises(InputError, match="a layer from 1 to 1, got 2"):
        learned_warp(model, layer=2)
    assert not has_warp(inside)


def test_one_that_is_not_on_warped_parameters_is_found() -> None:
    both = "Kumaraswamy(SSWIM(frequencies=4)) + SSWIM(frequencies=6)"
    model = model_of(both, 1)
    figure = learned_warp(model)
    *_, plain = (m for m in model.covar_module.modules() if isinstance(m, WarpKernel))
    mean, _ = conditioned(plain, "gain", scaled(torch.tensor([[-2.0]]).double()))
    line, _ = drawn(figure, 2, "times ĝ")
    assert len(plain.frequencies) == 6
    assert line.y[0] == pytest.approx(1.0 + mean.item(), abs=1e-7)


def test_reports_show_it_where_there_is_one(tmp_path: Path) -> None:
    structure = "SSWIM(frequencies=6)"
    found = make_comparison(1, structure=structure)
    model = found.model(structure)
    found.model = lambda *_, **__: model  # type: ignore[method-assign]
    text = report(found, path=tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Learned warp.</b>" in text
    assert "Could not be drawn" not in text
    text = report(optimisation(), path=tmp_path / "s.html").read_text()
    assert "Learned warp.</b>" in text
    text = report(make_comparison(1), path=tmp_path / "t.html").read_text()
    assert "Learned warp" not in text
