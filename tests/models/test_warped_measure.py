"""Fits of expected kernels under a warp, and of the waves that come near them."""

from __future__ import annotations

import pytest
import torch

import bokern
from bokern.build import lifted_start, set_theta, unfitted
from bokern.errors import StructureError
from bokern.inputs import read_observations
from bokern.models import StructuredGP
from bokern.structures import SSWIM, Matern, WarpedMeasure, parse
from tests.models.data import training_data

DATA = training_data(n=25, d=2)


@pytest.fixture(scope="module")
def data():
    return read_observations(*DATA)


@pytest.fixture(scope="module")
def waves(data):
    """A fit of many waves."""
    text = "SSWIM(frequencies=512, pseudo_points=3)"
    return unfitted(text, data, starts=1).fit()


def test_a_warp_learned_with_waves_is_scored_without_them(data, waves):
    exact = unfitted(waves.structure.exact, data)
    assert type(exact) is StructuredGP
    theta = lifted_start(exact, waves)
    source, target = waves.log_posterior(), exact.log_posterior()
    there = {c.name: source.get()[c.span] for c in source.coordinates}
    here = {c.name: theta[c.span] for c in target.coordinates}
    assert here.keys() == there.keys()
    for name, value in here.items():
        assert torch.equal(value, there[name]), name
    assert not torch.equal(theta, target.get())
    assert target.log_prior(theta) == source.log_prior(source.get())
    found = target.log_likelihood(theta).item()
    # Waves that were not fitted, and so not by chance, score the same warp alike.
    other = [
        unfitted(f"SSWIM(frequencies=4096, pseudo_points=3, seed={s})", data)
        for s in (1, 2, 3)
    ]
    scores = [m.log_posterior().log_likelihood(theta).item() for m in other]
    assert scores == pytest.approx(3 * [found], abs=1.0)
    set_theta(exact, theta.tolist())
    a, b = exact.covar_module.base_kernel, waves.covar_module.base_kernel
    assert torch.equal(a.warp(data.X).mean, b.warp(data.X).mean)


@pytest.mark.parametrize("law", ["independent", "joint"])
@pytest.mark.parametrize(
    ("plain", "spectrum"),
    [
        ("RBF()", "spectrum='rbf'"),
        ("Matern(1.5)", "spectrum='matern'"),
        ("Matern(2.5, columns=[1])", "nu=2.5, columns=[1]"),
    ],
)
def test_the_plain_kernel_lies_within_it(data, plain, spectrum, law):
    """Lifted to the identity, the likelihood is that of the plain kernel."""
    parent = unfitted(plain, data, starts=1).fit()
    child = unfitted(f"WarpedMeasure({spectrum}, law='{law}')", data)
    assert child.structure.contains(parent.structure)
    theta = lifted_start(child, parent)
    expected = parent.fit_result.log_likelihood
    found = child.log_posterior().log_likelihood(theta).item()
    assert found == pytest.approx(expected, abs=1e-2)
    objective = child.log_posterior()
    for c in objective.coordinates:
        if c.name.endswith(("gain_scale", "shift_scale")):
            theta[c.span] = -12.0
    found = objective.log_likelihood(theta).item()
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("WarpedMeasure()", "SSWIM(layers=2)"),
        ("WarpedMeasure()", "SSWIM(nu=0.5)"),
        ("WarpedMeasure()", "SSWIM(moments='plug-in')"),
        ("WarpedMeasure()", "SSWIM(columns=[1])"),
        ("WarpedMeasure(law='joint')", "SSWIM()"),
        ("WarpedMeasure(law='joint')", "WarpedMeasure()"),
        ("WarpedMeasure()", "Matern(1.5)"),
        ("WarpedMeasure(spectrum='matern')", "Matern(2.5)"),
    ],
)
def test_what_does_not_start_it(here, there):
    with pytest.raises(StructureError, match="does not contain"):
        parse(here).lift(parse(there))


def test_waves_are_not_contained():
    """They come near it, and may fit better by chance."""
    assert not SSWIM().exact.contains(SSWIM())
    assert SSWIM().exact.lift(SSWIM(frequencies=7, seed=3)) == ({"": ""}, {})
    rbf = SSWIM(spectrum="rbf", nu=0.5)
    assert rbf.exact.canonical() == WarpedMeasure(spectrum="rbf", nu=2.5)
    assert rbf.exact.canonical().lift(rbf) == ({"": ""}, {})
    given = {"spectrum": "matern", "nu": 2.5, "layers": 3, "pseudo_points": 5}
    given |= {"moments": "plug-in", "columns": ("a",)}
    assert SSWIM(**given).exact == WarpedMeasure(**given)
    with pytest.raises(StructureError, match=r"no nu=0\.5"):
        _ = SSWIM(nu=0.5).exact


def test_what_it_is():
    one, joint = WarpedMeasure(), WarpedMeasure(law="joint")
    assert one.family == joint.family == "warped"
    assert one.kinds == {"warped", "nonstationary"}
    assert (one.has_constant_variance, joint.has_constant_variance) == (False, True)
    assert WarpedMeasure(spectrum="matern").plain == Matern(1.5)
    assert one.plain is None
    assert parse(str(joint)) == joint != one


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("WarpedMeasure(nu=0.5)", "cusp"),
        ("WarpedMeasure(nu=2)", "0.5, 1.5, 2.5"),
        ("WarpedMeasure(spectrum='cauchy')", "rbf, matern, product-matern"),
        ("WarpedMeasure(layers=9)", "1 <= layers <= 8"),
        ("WarpedMeasure(pseudo_points=0)", "1 <= pseudo_points"),
        ("WarpedMeasure(moments='exact')", "matched, plug-in"),
        ("WarpedMeasure(law='both')", "independent, joint"),
        ("WarpedMeasure(law='joint', layers=2)", "expects layers=1, got 2"),
        ("WarpedMeasure(frequencies=4)", "frequencies"),
    ],
)
def test_malformed_structures(text, message):
    with pytest.raises(StructureError, match=message):
        parse(text)


@pytest.mark.integration
def test_is_compared_with_waves_and_with_a_plain_kernel():
    X, Y = training_data(n=40, d=2)
    exact = "WarpedMeasure(pseudo_points=2)"
    listed = [exact, "SSWIM(frequencies=16, pseudo_points=2)", "Matern(1.5)"]
    found = bokern.compare(listed, X, Y, starts=2)
    assert set(found.table["structure"]) == set(listed)
    assert found.table["log_evidence"].map(abs).max() < 100.0
    assert not any("NOT_AT_OPTIMUM" in str(flags) for flags in found.table["flags"])
    assert exact in str(found)
    assert "that learned processes stretch and bend" in str(found.explain(exact))
