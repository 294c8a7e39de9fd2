from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import gpytorch
import numpy as np
import pytest
import torch
from botorch.models.transforms.outcome import Bilog
from scipy import stats
from torch import Tensor

import bokern
from bokern.errors import ComparisonError, EvidenceError
from bokern.evidence import FLAGS, laplace
from bokern.fitting import GRADIENT_TOLERANCE, log_posterior
from bokern.models import StructuredGP
from bokern.structures import catalogue
from tests.evidence.data import free_only, model_of, move, observations

CONJUGATE = 1e-6
"""Laplace is exact where the posterior is Gaussian: only rounding is left."""

QUADRATURE = 0.3
"""Nats by which Laplace may miss two hyperparameters at n = 15."""

FIXED_UNITS, REFITTED_UNITS = 1e-10, 1e-6

NESTED = "Linear() * RBF(columns=[0]) + Invariant(Kumaraswamy(Matern(1.5)), cyclic(3))"
MEAN, OUTPUTSCALE = "mean_module.raw_constant", "raw_outputscale"
LENGTHSCALE, NOISE = "raw_lengthscale", "raw_noise"


# -- oracles ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("structure", ["RBF()", "Kumaraswamy(Matern(2.5))"])
def test_exact_on_a_conjugate_model(structure, standardize):
    """A mean m ~ N(0, 1) is one more Gaussian term: y ~ N(0, K + σ² + 11ᵀ)."""
    X, y = observations()
    if not standardize:
        y = (y - 4.0) / 3.0
    model = move(model_of(structure, X, y, standardize=standardize))
    free_only(model, MEAN).fit()
    evidence = laplace(model)
    K = model.covar_module(X).to_dense().detach().numpy()
    n = len(y)
    noise = model.likelihood.noise.item() * np.eye(n)
    s = y.std().item() if standardize else 1.0
    z = (y - y.mean() * standardize).numpy() / s
    covariance = K + noise + np.ones((n, n))
    expected = stats.multivariate_normal(np.zeros(n), covariance).logpdf(z)
    assert evidence.log_evidence == pytest.approx(
        expected - n * math.log(s), abs=CONJUGATE
    )
    assert evidence.n_hyperparameters == 1
    data = np.ones(n) @ np.linalg.solve(K + noise, np.ones(n))
    assert evidence.effective_hyperparameters == pytest.approx(data / (1.0 + data))
    assert evidence.hessian_min_eigenvalue == pytest.approx(1.0 + data)
    assert evidence.flags == ()


def quadrature(model: StructuredGP, free: tuple[str, ...], X: Tensor, y: Tensor):
    """log ∫∫ p(y | v) p(v) dv over two positive values, from SciPy's densities."""
    loc = math.sqrt(2.0) + 0.5 * math.log(2.0)
    prior = {
        LENGTHSCALE: [stats.lognorm(s=math.sqrt(3.0), scale=math.exp(loc))] * 2,
        OUTPUTSCALE: [stats.lognorm(s=1.0)],
        NOISE: [stats.lognorm(s=1.0, scale=math.exp(-4.0))],
    }
    first, second = [p for name in free for p in prior[name]]
    u = np.linspace(-11.0, 9.0, 151)
    a, b = (g.ravel() for g in np.meshgrid(np.exp(u), np.exp(u), indexing="ij"))
    kernel = model.covar_module
    ell = kernel.base_kernel.lengthscale.detach().numpy().reshape(1, 2)
    scale = kernel.outputscale.item()
    excess = model.likelihood.noise.item() - 1e-4
    if free == (LENGTHSCALE,):
        ell = np.stack([a, b], -1)
    else:
        scale, excess = a[:, None, None], b[:, None, None]
    difference = X.numpy()[:, None] - X.numpy()[None]
    square = np.einsum("ijk,tk->tij", difference**2, 1.0 / ell**2)
    K = scale * np.exp(-0.5 * square) + (1e-4 + excess) * np.eye(len(y))
    s = y.std().item()
    z = (y - y.mean()).numpy() / s - model.mean_module.constant.item()
    solved = np.linalg.solve(K, np.broadcast_to(z[:, None], (len(K), len(z), 1)))
    likelihood = -0.5 * (
        solved[..., 0] @ z + np.linalg.slogdet(K)[1] + len(z) * math.log(2 * math.pi)
    )
    density = likelihood + first.logpdf(a) + second.logpdf(b)
    slope = np.log(a) + np.log(b)  # dv = v du
    total = np.logaddexp.reduce(density + slope) + 2.0 * math.log(u[1] - u[0])
    return total - len(y) * math.log(s)


PAIRS = [(LENGTHSCALE,), (OUTPUTSCALE, NOISE)]


def fitted_pair(free: tuple[str, ...]) -> tuple[StructuredGP, float]:
    X, y = observations(n=15)
    model = model_of("RBF()", X, y)
    full = model.log_posterior()
    full.set(torch.tensor([0.2, 0.3, -0.9, 0.4, -3.5], dtype=torch.float64))
    free_only(model, *free).fit()
    return model, quadrature(model, free, X, y)


@pytest.mark.oracle
@pytest.mark.parametrize("free", PAIRS, ids=str)
def test_close_to_quadrature(free):
    model, expected = fitted_pair(free)
    evidence = laplace(model)
    assert evidence.n_hyperparameters == 2
    assert evidence.log_evidence == pytest.approx(expected, abs=QUADRATURE)


@pytest.mark.parametrize("free", PAIRS, ids=str)
@pytest.mark.parametrize("removed", ["constraint", "outcome transform", "prior"])
def test_quadrature_notices_a_missing_jacobian(free, removed, monkeypatch):
    """What the test above is worth: without any one part it fails."""
    if removed == "constraint":
        monkeypatch.setattr(log_posterior, "gaussian_moments", lambda *_: None)
        monkeypatch.setattr(log_posterior, "_log_slope", lambda _, raw: 0.0 * raw)
    if removed == "outcome transform":
        monkeypatch.setitem(laplace.__globals__, "log_jacobian", lambda _: 0.0)
    model, expected = fitted_pair(free)
    value = laplace(model).log_evidence
    if removed == "prior":
        value -= model.log_posterior().log_prior(model.log_posterior().get()).item()
    assert abs(value - expected) > QUADRATURE


# -- units ------------------------------------


@pytest.mark.parametrize("structure", ["RBF()", "Kumaraswamy(Matern(2.5))"])
@pytest.mark.parametrize("factor", [1e-3, 250.0])
def test_units_of_y(structure, factor):
    X, y = observations(n=20)
    gap = len(y) * math.log(factor)
    models = [model_of(structure, X, f * y, starts=3) for f in (1.0, factor)]
    fixed = [laplace(move(model)).log_evidence for model in models]
    assert fixed[1] + gap == pytest.approx(fixed[0], abs=FIXED_UNITS)
    refitted = [laplace(model.fit()).log_evidence for model in models]
    assert refitted[1] + gap == pytest.approx(refitted[0], abs=REFITTED_UNITS)


@pytest.mark.parametrize("noise", [None, 0.2])
def test_standardize_equals_z_scores_by_hand(noise):
    X, y = observations(n=20)
    s = y.std()
    own_noise = None if noise is None else noise / s.item() ** 2
    inside = model_of("Matern(2.5)", X, y, noise, starts=3)
    outside = model_of(
        "Matern(2.5)", X, (y - y.mean()) / s, own_noise, standardize=False, starts=3
    )
    gap = len(y) * math.log(s)
    fixed = [laplace(move(model)).log_evidence for model in (inside, outside)]
    assert fixed[0] + gap == pytest.approx(fixed[1], abs=FIXED_UNITS)
    refitted = [laplace(model.fit()) for model in (inside, outside)]
    assert refitted[0].log_evidence + gap == pytest.approx(
        refitted[1].log_evidence, abs=REFITTED_UNITS
    )
    assert refitted[0].log_jacobian == pytest.approx(-gap)
    assert refitted[0].bic + gap == pytest.approx(refitted[1].bic, abs=REFITTED_UNITS)


# -- optima and flags ------------------------------------


def data_sets() -> dict[str, tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(5)
    X, _ = observations(18, 3, seed=2)
    return {
        "noisy": observations(18, 3),
        "exact": (X, torch.cos(4.0 * X[:, 0]) * X[:, 1]),
        "noise": (X, torch.randn(18, generator=generator, dtype=torch.float64)),
    }


@pytest.mark.parametrize("name", data_sets())
@pytest.mark.parametrize("structure", [*(e.text for e in catalogue()), NESTED])
def test_the_gradient_vanishes_wherever_no_flag_says_otherwise(structure, name):
    model = model_of(structure, *data_sets()[name], starts=2).fit()
    evidence = laplace(model)
    assert set(evidence.flags) <= set(FLAGS)
    assert "NOT_AT_OPTIMUM" not in evidence.flags
    _, gradient = model.log_posterior().value_and_gradient(model.log_posterior().get())
    assert gradient.norm() < GRADIENT_TOLERANCE
    assert evidence.gradient_norm == pytest.approx(gradient.norm().item(), abs=1e-12)
    k = evidence.n_hyperparameters
    assert k == len(model.fit_result.theta)
    assert 0.0 < evidence.effective_hyperparameters < k
    assert evidence.lower == evidence.log_evidence == evidence.upper
    assert evidence.kind == "exact/laplace"


def test_flags_of_a_poor_fit():
    X, y = observations()
    model = model_of("RBF()", X, y, starts=3).fit()
    assert laplace(model).flags == ()
    result = model.fit_result
    model.fit_results = (replace(result, restart_hits=1),)
    assert laplace(model).flags == ("ONE_HIT",)
    model.fit_results = (replace(result, at_bound=("likelihood",)),)
    assert laplace(model).flags == ("AT_BOUND",)
    objective = model.log_posterior()
    theta = objective.get()
    objective.set(theta + 1e-4)
    assert laplace(model).flags == ("NOT_AT_OPTIMUM", "AT_BOUND")
    objective.set(theta + torch.tensor([0.0, 0.0, 9.0, 9.0, 4.0]).double())
    far = laplace(model)
    assert "NOT_AT_OPTIMUM" in far.flags
    assert math.isfinite(far.log_evidence)


# -- refusals ------------------------------------


def test_type_ii_maximum_likelihood_has_no_evidence():
    model = model_of("RBF()", *observations(), starts=1, objective="ml").fit()
    with pytest.raises(EvidenceError, match="fit with objective='map'"):
        laplace(model)


def test_improper_several_and_unknown_transforms_are_refused():
    X, y = observations()
    improper = model_of("RBF()", X, y, mean_module=gpytorch.means.ConstantMean())
    with pytest.raises(EvidenceError, match="raw_constant has none: register one"):
        laplace(improper)
    several = StructuredGP(X, torch.stack([y, y + X[:, 0]], -1))
    with pytest.raises(EvidenceError, match="fit one model for each outcome"):
        laplace(several)
    bent = StructuredGP(X, y.unsqueeze(-1), outcome_transform=Bilog())
    with pytest.raises(EvidenceError, match="Jacobian of Bilog is not known"):
        laplace(bent)


# -- independence ------------------------------------


@pytest.mark.parametrize("noise", [None, 0.05])
def test_global_settings_change_nothing(noise):
    def value() -> float:
        model = model_of("Matern(2.5)", *observations(), noise, starts=2)
        return laplace(model.fit()).log_evidence

    before = value()
    with (
        gpytorch.settings.max_cholesky_size(1),
        gpytorch.settings.fast_computations(True, True, True),
        gpytorch.settings.cholesky_jitter(1e-2, 1e-2),
        gpytorch.settings.min_fixed_noise(double_value=0.5),
        gpytorch.settings.lazily_evaluate_kernels(False),
    ):
        assert value() == before


@pytest.mark.slow
def test_the_order_of_imports_changes_nothing():
    script = (
        "from tests.evidence.data import *; from bokern.evidence import laplace;"
        "print(repr(laplace(model_of('RBF()', *observations()).fit()).log_evidence))"
    )
    values = {
        subprocess.run(
            [sys.executable, "-c", f"{first}\n{script}"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for first in ("import botorch", "import gpytorch", "import bokern")
    }
    assert len(values) == 1


@pytest.mark.parametrize("factor", [1e-12, 1e-7, 1e9, 1e100])
def test_evidence_at_extreme_units(factor):
    torch.manual_seed(3)
    X = torch.rand(15, 1, dtype=torch.float64)
    y = torch.sin(6.0 * X[:, 0]) + 0.1 * torch.randn(15, dtype=torch.float64)
    plain = laplace(bokern.fit("RBF()", X, y)).log_evidence
    scaled = laplace(bokern.fit("RBF()", X, factor * y)).log_evidence
    assert scaled + 15 * math.log(factor) == pytest.approx(plain, abs=1e-6)


def test_data_and_known_noise_are_told_apart():
    torch.manual_seed(3)
    X = torch.rand(15, 1, dtype=torch.float64)
    y = torch.sin(6.0 * X[:, 0])
    far = laplace(bokern.fit("RBF()", X, y + 1e9, starts=2))
    turned = laplace(bokern.fit("RBF()", X, y.flip(0) + 1e9, starts=2))
    with pytest.raises(ComparisonError, match="data fingerprint"):
        _ = far - turned
    small = laplace(bokern.fit("RBF()", X, y, noise=0.1, starts=2))
    large = laplace(bokern.fit("RBF()", X, y, noise=1.0, starts=2))
    with pytest.raises(ComparisonError, match="likelihood"):
        _ = small - large


@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
def test_float32_is_fitted_in_float64():
    torch.manual_seed(3)
    X = torch.rand(15, 2)
    y = torch.sin(6.0 * X[:, 0]) + 0.1 * torch.randn(15)
    single = bokern.fit("Matern(2.5)", X, y)
    double = bokern.fit("Matern(2.5)", X.double(), y.double())
    assert single.posterior(X).mean.dtype == torch.float32
    evidence = laplace(single)
    assert "NOT_AT_OPTIMUM" not in evidence.flags
    assert evidence.log_evidence == pytest.approx(
        laplace(double).log_evidence, abs=1e-3
    )


def test_without_free_hyperparameters_there_is_nothing_to_integrate():
    X = torch.rand(8, 1, dtype=torch.float64)
    model = bokern.fit("RBF()", X, X[:, 0].square(), starts=1)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    with pytest.raises(EvidenceError, match="plug_in"):
        laplace(model)


@pytest.mark.parametrize(
    ("structure", "inference"),
    [
        ("RBF()", "exact"),
        ("DeepSE()", "exact"),
        ("ConditionalDeep(hyperdata=2)", "exact"),
        ("ConditionalDeep(DeepSE(), hyperdata=0)", "moment-matched"),
        ("Linear() + ConditionalDeep(hyperdata=1, layers=3)", "moment-matched"),
    ],
)
def test_three_layers_are_moment_matched(structure, inference):
    X, y = observations()
    model = move(model_of(structure, X, y))
    assert laplace(model).inference == inference
