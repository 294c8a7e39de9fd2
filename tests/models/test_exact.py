from __future__ import annotations

import pytest
import torch
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models.transforms import Normalize
from gpytorch.kernels import RBFKernel
from gpytorch.means import ConstantMean, ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.settings import min_fixed_noise

from bokern.errors import ColumnError, ShapeError, StructureError
from bokern.hyperpriors import NOISE_FLOOR
from bokern.models import StructuredGP, exact
from bokern.models.noise import KNOWN_NOISE_FLOOR, inferred_noise
from tests.models.data import training_data


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"covar_module": RBFKernel()}, StructureError, "SingleTaskGP"),
        ({"objective": "mle"}, StructureError, "'map' or 'ml', got 'mle'"),
        ({"structure": "RBF(columns=['x7'])"}, ColumnError, "'x7' does not exist"),
        ({"structure": "Gauss()"}, StructureError, "unknown structure.*'Gauss'"),
        ({"structure": 3}, StructureError, "got 3 of type int"),
    ],
)
def test_refusals(options, error, message):
    with pytest.raises(error, match=message):
        StructuredGP(*training_data(), **options)


def test_failed_starts_are_botorch_fitting_errors():
    model = StructuredGP(*training_data(), starts=2)
    model.train_targets[0] = torch.nan
    with pytest.raises(ModelFittingError, match="none of 2 starts"):
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))


@pytest.mark.parametrize("mean", ["zero", "constant", "unbatched"])
def test_own_means_and_likelihoods_in_a_batch(mean):
    X, Y = training_data(m=2)
    batch = torch.Size([2])
    mean_module = {
        "zero": ZeroMean(batch_shape=batch),
        "constant": ConstantMean(batch_shape=batch),
        "unbatched": ConstantMean(),
    }[mean]
    likelihood = inferred_noise(batch)
    model = StructuredGP(
        X,
        Y,
        likelihood=likelihood,
        mean_module=mean_module,
        starts=1,
        structure="RBF()",
    )
    if mean == "unbatched":
        with pytest.raises(ShapeError, match="batch_shape="):
            model.fit()
        return
    model.fit()
    assert model.likelihood is likelihood
    parts = model.log_posteriors()
    whole = model.log_posterior()
    assert {p.dim for p in parts} == {whole.dim}
    theta = whole.get()
    values = torch.stack([p(t) for p, t in zip(parts, theta, strict=True)])
    torch.testing.assert_close(values, whole(theta))
    assert bool((model.likelihood.noise > NOISE_FLOOR).all())


def test_raw_targets_are_those_given_to_the_last_bit():
    X, Y = training_data(m=2)
    Y[0] = 0.0
    model = StructuredGP(X, Y)
    assert torch.equal(model.raw_targets, Y)
    model.set_train_data(targets=model.train_targets + 1.0, strict=False)
    expected = Y + model.outcome_transform.stdvs
    torch.testing.assert_close(model.raw_targets, expected)


@pytest.mark.filterwarnings("ignore:Very small noise values detected")
def test_the_floor_of_known_noise_is_ours():
    X, Y = training_data()
    with min_fixed_noise(double_value=0.5):
        model = StructuredGP(X, Y, torch.full_like(Y, 1e-12), outcome_transform=None)
        part = model.log_posterior().on_rows(torch.arange(3))
        noise = part.moments(part.get())[2]
    assert noise.tolist() == [KNOWN_NOISE_FLOOR] * 3


def test_type_ii_maximum_likelihood_ignores_the_priors():
    X, Y = training_data(n=20)
    options = {"structure": "RBF()", "input_transform": Normalize(3), "starts": 3}
    by_map = StructuredGP(X, Y, **options).fit()
    by_ml = StructuredGP(X, Y, objective="ml", **options).fit()
    assert by_ml.fit_result.log_likelihood > by_map.fit_result.log_likelihood + 0.1
    assert by_ml.fit_result.objective_name == "ml"


def test_the_objective_sees_the_unit_cube_in_either_mode():
    X, Y = training_data()
    box = torch.tensor([[-2.0] * 3, [8.0] * 3], dtype=torch.float64)
    model = StructuredGP(
        10.0 * X - 2.0, Y, input_transform=Normalize(3, bounds=box), structure="RBF()"
    )
    torch.testing.assert_close(model.log_posterior().X, X)
    model.posterior(X)
    assert not model.training
    torch.testing.assert_close(model.log_posterior().X, X)
    assert not model.training


def test_a_fit_forgets_predictions_made_before():
    X, Y = training_data()
    fresh = StructuredGP(X, Y, starts=1).fit()
    used = StructuredGP(X, Y, starts=1)
    used.posterior(X)
    used.fit()
    assert not used.training
    assert not fresh.training
    torch.testing.assert_close(used.posterior(X).mean, fresh.posterior(X).mean)


@pytest.mark.parametrize(
    ("extra", "value", "runs"),
    [(0, 0.1, 2), (-1, 0.1, 6), (1, 0.1, 6), (0, float("nan"), 6), (None, 0.0, 6)],
)
def test_an_earlier_fit_takes_the_place_of_other_starts(
    monkeypatch, extra, value, runs
):
    asked = []

    def fit_map(objective, starts, seed, warm=None):
        asked.append(starts + (0 if warm is None else len(warm)))
        return real(objective, starts=1, seed=seed, warm=warm)

    real = exact.fit_map
    monkeypatch.setattr(exact, "fit_map", fit_map)
    data = training_data()
    size = StructuredGP(*data, structure="RBF()").log_posterior().dim
    warm = None if extra is None else [value] * (size + extra)
    StructuredGP(*data, structure="RBF()", starts=6, warm=warm).fit()
    assert asked == [runs]
