from __future__ import annotations

import math

import gpytorch
import numpy as np
import pytest
import torch
from gpytorch.constraints import Positive
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean, LinearMean, ZeroMean
from scipy import stats

from bokern.errors import EvidenceError
from bokern.fitting import log_posterior as module
from bokern.fitting import row_blocks

STRUCTURES = (
    "RBF()",
    "Matern(2.5)",
    "Kumaraswamy(Matern(1.5))",
    "Linear() + Periodic(columns=[0])",
    "RationalQuadratic() * Linear()",
    "DeepSE(2)",
    "Invariant(RBF(), swap(0, 1))",
    "Invariant(RBF(), swap(0, 1), tied=False)",
)
ROUNDING = 1e-10
"""Relative, of a log density summed in another order."""


def _log_normal(value: float, loc: float, scale: float) -> float:
    """Density of log value: the log-normal's, times the slope of the logarithm."""
    density = stats.lognorm.logpdf(value, s=scale, scale=math.exp(loc))
    return float(density) + math.log(value)


@pytest.mark.oracle
@pytest.mark.parametrize("known_noise", [False, True])
@pytest.mark.parametrize("use_prior", [False, True])
def test_value_is_the_normal_density_and_priors_with_jacobians(
    unit_model, known_noise, use_prior
):
    model = unit_model("RBF()", noise=0.03 if known_noise else None)
    objective = model.log_posterior(use_prior)
    value = {
        "mean_module.raw_constant": 0.3,
        "covar_module.raw_outputscale": 0.4,
        "covar_module.base_kernel.raw_lengthscale": [-0.7, 0.2],
        "likelihood.noise_covar.raw_noise": -3.1,
    }
    theta = torch.zeros(objective.dim, dtype=torch.float64)
    for c in objective.coordinates:
        theta[c.span] = torch.as_tensor(value[c.name], dtype=torch.float64)
    mean, scale, ell = 0.3, math.exp(0.4), np.exp([-0.7, 0.2])
    noise = 0.03 if known_noise else 1e-4 + math.exp(-3.1)

    X = model.train_inputs[0].numpy()
    K = np.empty((len(X), len(X)))
    for i, a in enumerate(X):
        for j, b in enumerate(X):
            K[i, j] = scale * math.exp(-0.5 * float((((a - b) / ell) ** 2).sum()))
    K += noise * np.eye(len(X))
    z = model.train_targets.numpy()
    expected = stats.multivariate_normal(np.full(len(X), mean), K).logpdf(z)
    if use_prior:
        expected += stats.norm.logpdf(mean)
        expected += _log_normal(scale, 0.0, 1.0)
        loc = math.sqrt(2.0) + 0.5 * math.log(2.0)
        expected += sum(_log_normal(v, loc, math.sqrt(3.0)) for v in ell)
        if not known_noise:
            expected += _log_normal(math.exp(-3.1), -4.0, 1.0)
    assert objective(theta).item() == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("known_noise", [False, True])
def test_gradient_and_hessian(unit_model, draw_theta, structure, known_noise):
    model = unit_model(structure, noise=0.02 if known_noise else None)
    objective = model.log_posterior()
    theta = draw_theta(objective, 3)
    assert torch.autograd.gradcheck(objective, theta.clone().requires_grad_(True))

    automatic = theta.clone().requires_grad_(True)
    whole = objective(automatic)
    (expected,) = torch.autograd.grad(whole.sum(), automatic)
    value, gradient = objective.value_and_gradient(theta)
    torch.testing.assert_close(value, whole.detach(), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradient, expected, rtol=1e-7, atol=1e-7)

    one, step = theta[0], 1e-5
    eye = torch.eye(objective.dim, dtype=torch.float64)
    ahead = objective.value_and_gradient(one + step * eye)[1]
    behind = objective.value_and_gradient(one - step * eye)[1]
    differences = (ahead - behind) / (2 * step)
    torch.testing.assert_close(
        objective.hessian(one), differences, rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("blocks", [False, True])
def test_a_caller_without_gradients_gets_them_too(
    unit_model, draw_theta, blocks, monkeypatch
):
    objective = unit_model("RBF()").log_posterior()
    if blocks:
        monkeypatch.setitem(row_blocks.BLOCK_ENTRIES, "cpu", 20)
    theta = draw_theta(objective, 2)
    value, gradient = objective.value_and_gradient(theta)
    with torch.no_grad():
        again, slope = objective.value_and_gradient(theta)
    assert torch.equal(again, value)
    assert torch.equal(slope, gradient)


@pytest.mark.equivalence
@pytest.mark.parametrize("rows", [1, 3, 7])
@pytest.mark.parametrize("structure", [*STRUCTURES, "ConditionalDeep()"])
def test_covariance_in_blocks_of_rows(
    unit_model, draw_theta, structure, rows, monkeypatch
):
    objective = unit_model(structure).log_posterior()
    theta = draw_theta(objective, 2)
    value, gradient = objective.value_and_gradient(theta)
    with torch.no_grad():
        whole = objective.moments(theta)
    most = 2 * rows * objective.entries // objective.num_data
    monkeypatch.setitem(row_blocks.BLOCK_ENTRIES, "cpu", most)
    assert objective._blocks(theta).rows == rows
    with torch.no_grad():
        parts = objective.moments(theta)
    found, slope = objective.value_and_gradient(theta)
    for a, b in zip((*whole, value, gradient), (*parts, found, slope), strict=True):
        torch.testing.assert_close(b, a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_hessian_in_blocks(unit_model, draw_theta, structure, monkeypatch):
    objective = unit_model(structure).log_posterior()
    theta = draw_theta(objective)
    whole = objective.hessian(theta)
    monkeypatch.setattr(module, "HESSIAN_ELEMENTS", 2 * objective.num_data**2)
    torch.testing.assert_close(objective.hessian(theta), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.equivalence
@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_hessian_of_many_rows_is_differenced(unit_model, draw_theta, structure):
    n = module.DIFFERENCED_ABOVE + 1
    objective = unit_model(structure, n=n).log_posterior()
    theta = draw_theta(objective)
    exact = module._hessian(objective, theta, objective.entries)
    H = objective.hessian(theta)
    assert not torch.equal(H, exact)
    scale = exact.abs().max()
    # An error of differences, h² / 6 of a fourth derivative.
    torch.testing.assert_close(H / scale, exact / scale, rtol=0.0, atol=1e-6)
    few = objective.on_rows(torch.arange(n - 1))
    assert torch.equal(
        few.hessian(theta), module._hessian(few, theta, objective.entries)
    )


@pytest.mark.equivalence
@pytest.mark.parametrize("structure", STRUCTURES)
def test_batch_equals_loop(unit_model, draw_theta, structure):
    objective = unit_model(structure).log_posterior()
    theta = draw_theta(objective, 2, 3)
    value, gradient = objective.value_and_gradient(theta)
    assert value.shape == (2, 3)
    assert gradient.shape == theta.shape
    for i in range(2):
        for j in range(3):
            one_value, one_gradient = objective.value_and_gradient(theta[i, j])
            torch.testing.assert_close(value[i, j], one_value)
            torch.testing.assert_close(gradient[i, j], one_gradient)
            torch.testing.assert_close(objective(theta[i, j]), one_value)
            prior = objective.log_prior(theta)[i, j]
            torch.testing.assert_close(objective.log_prior(theta[i, j]), prior)


def test_get_and_set_write_the_constrained_values(unit_model, draw_theta):
    model = unit_model("Kumaraswamy(RBF())")
    objective = model.log_posterior()
    theta = draw_theta(objective)
    objective.set(theta)
    torch.testing.assert_close(objective.get(), theta, rtol=0.0, atol=0.0)
    values = objective.values(theta)
    noise = values["likelihood.noise_covar.raw_noise"]
    torch.testing.assert_close(model.likelihood.noise.detach(), noise)
    kernel = model.covar_module
    torch.testing.assert_close(
        kernel.hyperparameter("concentration_a").detach(),
        values["covar_module.raw_concentration_a"],
    )
    assert objective.is_log().sum() == objective.dim - 1


def test_frozen_parameters_are_no_coordinates(unit_model):
    model = unit_model("RBF()")
    before = model.log_posterior().dim
    model.likelihood.noise_covar.raw_noise.requires_grad_(False)
    objective = model.log_posterior()
    assert objective.dim == before - 1
    assert all("noise" not in c.name for c in objective.coordinates)


def test_rows_are_a_smaller_data_set(unit_model, draw_theta):
    rows = torch.tensor([1, 4, 7])
    for noise in (None, 0.05):
        model = unit_model("RBF()", noise=noise)
        objective = model.log_posterior()
        part = objective.on_rows(rows)
        theta = draw_theta(objective)
        _, K, s = objective.moments(theta)
        _, K_rows, s_rows = part.moments(theta)
        torch.testing.assert_close(K_rows, K[rows][:, rows])
        torch.testing.assert_close(s_rows, s[rows])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_default_priors_are_proper_and_gaussian_in_theta(unit_model, structure):
    objective = unit_model(structure).log_posterior()
    objective.check_proper()
    mean, sd = objective.prior_moments()
    constant = -(sd.log() + 0.5 * math.log(2 * math.pi)).sum()
    theta = mean + sd * torch.linspace(-1.5, 2.0, objective.dim, dtype=torch.float64)
    expected = constant - 0.5 * ((theta - mean) / sd).square().sum()
    torch.testing.assert_close(objective.log_prior(theta), expected)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"mean_module": ConstantMean()}, "mean_module.raw_constant"),
        ({"mean_module": LinearMean(2)}, "mean_module.weights"),
        (
            {
                "likelihood": GaussianLikelihood(
                    noise_constraint=Positive(transform=torch.exp)
                )
            },
            "likelihood.noise_covar.raw_noise",
        ),
    ],
)
def test_a_parameter_without_prior_is_refused(unit_model, options, name):
    objective = unit_model("RBF()", **options).log_posterior()
    with pytest.raises(EvidenceError, match=f"{name}.* has none: register one"):
        objective.check_proper()


def test_an_unknown_constraint_is_refused(unit_model):
    likelihood = GaussianLikelihood(noise_constraint=Positive())
    objective = unit_model("RBF()", likelihood=likelihood).log_posterior()
    with pytest.raises(EvidenceError, match=r"transform=torch\.exp"):
        objective(objective.get())


@pytest.mark.parametrize("by_terms", [False, True])
def test_what_cannot_be_factorised_is_minus_infinity(
    unit_model, draw_theta, by_terms, monkeypatch
):
    if by_terms:  # as priors of other kinds are summed, which refuse NaN
        monkeypatch.setattr(module, "gaussian_moments", lambda *_: None)
    objective = unit_model("RBF()", mean_module=ZeroMean()).log_posterior()
    theta = draw_theta(objective, 3)
    theta[1] = math.nan
    theta[2] = 800.0
    value, gradient = objective.value_and_gradient(theta)
    assert torch.isfinite(value[0])
    assert value[1] == value[2] == -math.inf
    assert bool(torch.isfinite(gradient).all())
    torch.testing.assert_close(
        objective.log_likelihood(theta)[0], value[0] - (objective.log_prior(theta[0]))
    )
    assert objective.log_likelihood(theta)[1] == -math.inf


def test_global_settings_change_nothing(unit_model, draw_theta):
    objective = unit_model("Kumaraswamy(Matern(2.5))", n=25).log_posterior()
    theta = draw_theta(objective)
    before = objective.value_and_gradient(theta)
    with (
        gpytorch.settings.max_cholesky_size(1),
        gpytorch.settings.fast_computations(True, True, True),
        gpytorch.settings.cholesky_jitter(1e-2, 1e-2),
        gpytorch.settings.min_fixed_noise(double_value=0.5),
        gpytorch.settings.num_trace_samples(1),
        gpytorch.settings.lazily_evaluate_kernels(True),
    ):
        after = objective.value_and_gradient(theta)
        likelihood = objective.log_likelihood(theta)
    for a, b in zip(before, after, strict=True):
        torch.testing.assert_close(a, b, rtol=0.0, atol=0.0)
    expected = before[0] - objective.log_prior(theta)
    torch.testing.assert_close(likelihood, expected, rtol=ROUNDING, atol=0.0)
