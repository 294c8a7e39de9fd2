from __future__ import annotations

import pytest
import torch
from botorch.models.transforms.outcome import Log
from gpytorch.means import ZeroMean

import bokern
from bokern.build import lifted_start, set_theta, unfitted
from bokern.errors import FitWarning, InputError, StructureError
from bokern.evidence import laplace, log_jacobian
from bokern.inputs import read_observations
from bokern.models.yeo_johnson import YeoJohnson
from bokern.structures import RBF, Matern, parse

BOX = [(0.0, 10.0), (-5.0, 5.0)]


@pytest.fixture(scope="module")
def data():
    generator = torch.Generator().manual_seed(0)
    U = torch.rand(18, 2, generator=generator, dtype=torch.float64)
    X = 10.0 * U - torch.tensor([0.0, 5.0], dtype=torch.float64)
    y = 50.0 + 20.0 * torch.sin(0.7 * X[:, 0]) + X[:, 1]
    noise = torch.randn(18, generator=generator, dtype=torch.float64)
    return read_observations(X, y + noise, BOX)


def test_fit_gives_a_model_in_raw_units(data):
    model = bokern.fit(Matern(2.5), data.X, data.y, bounds=BOX, starts=2)
    mean = model.posterior(data.X).mean.squeeze(-1)
    assert (mean - data.y).abs().max() < 4.0
    assert model.structure == model.given_structure == Matern(2.5)
    assert model.column_names == ("x0", "x1")
    torch.testing.assert_close(model.bounds, data.bounds)
    torch.testing.assert_close(model.train().train_inputs[0], data.X)
    assert model.fit_result.restarts == 2


def test_text_and_object_are_one_structure(data):
    options = {"bounds": BOX, "starts": 1}
    by_text = bokern.fit("RBF(columns=[0])", data.X, data.y, **options)
    by_object = bokern.fit(RBF(columns=[0]), data.X, data.y, **options)
    assert by_text.fit_result.theta == by_object.fit_result.theta


def test_names_are_kept_and_resolved(data):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data.X.numpy(), columns=["speed", "angle"])
    target = pandas.Series(data.y.numpy(), name="lift")
    model = bokern.fit("RBF(columns=['angle'])", frame, target, starts=1)
    assert str(model.given_structure) == "RBF(columns=['angle'])"
    assert str(model.structure) == "RBF(columns=[1])"
    assert model.column_names == ("speed", "angle")
    assert model.target_name == "lift"


def test_options_reach_the_model(data):
    zero = unfitted("RBF()", data, mean="zero", standardize=False, objective="ml")
    assert isinstance(zero.mean_module, ZeroMean)
    assert not hasattr(zero, "outcome_transform")
    assert zero.objective == "ml"
    known = bokern.fit("RBF()", data.X, data.y, bounds=BOX, noise=0.5, starts=1)
    raw = known.likelihood.noise * known.outcome_transform.stdvs.square().squeeze()
    torch.testing.assert_close(raw, torch.full_like(raw, 0.5))


@pytest.mark.parametrize("outcome", ["log", "yeo-johnson(0.3)"])
def test_outcomes_are_transformed_and_predicted_raw(data, outcome):
    y = (data.y / 10.0).exp()
    model = bokern.fit("RBF()", data.X, y, bounds=BOX, starts=2, outcome=outcome)
    assert torch.equal(model.raw_targets.squeeze(-1), y)
    ratio = model.posterior(data.X).mean.squeeze(-1) / y
    assert (ratio.log().abs() < 0.5).all()
    bare = bokern.fit(
        "RBF()", data.X, y, bounds=BOX, starts=2, outcome=outcome, standardize=False
    )
    assert isinstance(bare.outcome_transform, Log | YeoJohnson)


@pytest.mark.oracle
@pytest.mark.parametrize("objective", ["map", "ml"])
def test_a_power_is_fitted_with_the_hyperparameters(data, objective):
    y = (data.y / 20.0).exp()
    options = {"bounds": BOX, "starts": 4, "objective": objective}

    def value(outcome: str) -> float:
        model = bokern.fit("RBF()", data.X, y, outcome=outcome, **options)
        power = float(model.outcome_transform["yeo-johnson"].power)
        prior = -0.5 * (power - 1.0) ** 2 if objective == "map" else 0.0
        return model.fit_result.objective + log_jacobian(model) + prior

    best = max(value(f"yeo-johnson({p:g})") for p in torch.linspace(0, 2, 21))
    assert value("yeo-johnson") >= best - 0.02


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("auto", "outcome is expected as"),
        ("log", "needs positive targets"),
        ("yeo-johnson(5)", "from 0 to 2"),
    ],
)
def test_outcomes_that_do_not_suit_are_refused(data, outcome, words):
    with pytest.raises(InputError, match=words):
        bokern.fit("RBF()", data.X, data.y - 60.0, bounds=BOX, outcome=outcome)


@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
def test_seeds_and_float32(data):
    fits = [
        bokern.fit("RBF()", data.X, data.y, bounds=BOX, starts=1, seed=s).fit_result
        for s in (4, 4, 5)
    ]
    assert fits[0].theta == fits[1].theta
    assert fits[0].seed != fits[2].seed
    single = bokern.fit("RBF()", data.X.float(), data.y.float(), bounds=BOX, starts=1)
    assert single.posterior(data.X.float()).mean.dtype == torch.float32
    assert single.fit_result.objective == pytest.approx(fits[0].objective, abs=1e-2)


def test_set_theta_restores_a_fit(data):
    model = unfitted("Kumaraswamy(RBF())", data, starts=1).fit()
    again = set_theta(
        unfitted("Kumaraswamy(RBF())", data), list(model.fit_result.theta)
    )
    at = data.X[:4] + 0.01
    expected, found = model.posterior(at), again.posterior(at)
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-12, atol=0)
    assert laplace(again).log_evidence == pytest.approx(
        laplace(model).log_evidence, abs=1e-9
    )


LIFTS = [
    ("RBF()", "Kumaraswamy(RBF())", 1e-6),
    ("Linear() + RBF()", "Kumaraswamy(Linear() + RBF())", 1e-6),
    ("RBF()", "RBF() + Periodic()", 1e-2),
    ("Linear() + RBF()", "Linear() + Matern(1.5) + RBF()", 1e-2),
    ("Linear() + RBF()", "Kumaraswamy(Linear() + Matern(0.5) + RBF())", 1e-2),
    ("RBF() * Linear()", "Periodic() + RBF() * Linear()", 1e-2),
]


@pytest.mark.parametrize(("parent", "child", "identity"), LIFTS)
def test_a_lifted_start_has_the_parents_likelihood(data, parent, child, identity):
    """Up to how close the new part is to its identity, which is pushed to nothing."""
    small = unfitted(parent, data, starts=1).fit()
    large = unfitted(child, data)
    objective = large.log_posterior()
    theta = lifted_start(large, small)
    expected = small.fit_result.log_likelihood
    assert objective.log_likelihood(theta).item() == pytest.approx(
        expected, abs=identity
    )
    for c in objective.coordinates:
        if (theta[c.span] == -10.0).all():
            theta[c.span] = -200.0
    absent = objective.log_likelihood(theta).item()
    warp = "Kumaraswamy" in child  # it keeps 1e-7 off the faces
    assert absent == pytest.approx(expected, abs=1e-5 if warp else 1e-8)


def test_a_structure_that_is_not_contained_lifts_nothing(data):
    parent = unfitted("Periodic()", data)
    with pytest.raises(StructureError, match="does not contain"):
        lifted_start(unfitted("Kumaraswamy(RBF())", data), parent)
    assert not parse("Kumaraswamy(RBF())").contains(parse("Periodic()"))


def test_maximum_likelihood_of_hyperdata_is_warned_of(data):
    X, y = data.X, data.y
    with pytest.warns(FitWarning, match="maximum likelihood overfits 3 hyperdata"):
        unfitted("ConditionalDeep(hyperdata=3)", data, objective="ml")
    with pytest.warns(FitWarning, match="objective='map'") as caught:
        bokern.fit("ConditionalDeep(hyperdata=1)", X, y, objective="ml", starts=1)
    assert caught[0].filename == __file__
