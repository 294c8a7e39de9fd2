"""The Gaussian process of features against the same one by dense covariances."""

from __future__ import annotations

import math

import pytest
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models.transforms import Normalize
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.sampling.pathwise import draw_matheron_paths
from torch.autograd import gradcheck
from torch.distributions import MultivariateNormal

import bokern
from bokern.build import lifted_start, unfitted
from bokern.errors import StructureError
from bokern.evidence import laplace, leave_one_out, smc
from bokern.inference.weights import WeightPosterior
from bokern.inputs import read_observations
from bokern.models import StructuredGP, WeightSpaceGP, has_weights, weight_objective
from bokern.models.weight_objective import WeightLogPosterior
from tests.models.data import points, randomize, training_data

STRUCTURES = (
    "SparseSpectrum(frequencies=6)",
    "SparseSpectrum(spectrum='rbf', frequencies=5, columns=[0, 2]) + Linear()",
    "SparseSpectrum(nu=0.5, frequencies=3) * Linear(columns=[1]) + Linear()",
    "Invariant(SparseSpectrum(frequencies=4), permutations(3))",
    "Invariant(SparseSpectrum(frequencies=4), reflections(0), normalize=False)",
    "Kumaraswamy(SparseSpectrum(spectrum='product-matern', frequencies=5))",
    "SSWIM(frequencies=5, pseudo_points=3, layers=2)",
)
NOISES = (None, "different")

RELATIVE = 1e-8
"""What the design asks of values and gradients against dense covariances."""


def both(structure, n=40, noise=None, m=1, **options):
    """The dense model and the one of features, alike."""
    X, Y = training_data(n=n, m=m)
    generator = torch.Generator().manual_seed(1)
    Yvar = None
    if noise == "different":
        Yvar = 0.1 + torch.rand(Y.shape, generator=generator).to(Y)
    dense, weighted = (
        kind(X, Y, Yvar, structure=structure, **options)
        for kind in (StructuredGP, WeightSpaceGP)
    )
    randomize(dense)
    weighted.load_state_dict(dense.state_dict())
    return dense, weighted.train().eval()


def thetas(objective, *lead):
    generator = torch.Generator().manual_seed(5)
    shape = (*lead, objective.dim)
    return 0.6 * torch.randn(shape, generator=generator, dtype=torch.float64) - 0.6


@pytest.fixture(params=[2**21, 100], ids=["one chunk", "many chunks"])
def chunks(request, monkeypatch):
    monkeypatch.setitem(weight_objective.CHUNK_ENTRIES, "cpu", request.param)


# -- the objective ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_values_and_gradients_are_those_of_dense_covariances(structure, noise, chunks):
    dense, weighted = (m.log_posterior() for m in both(structure, noise=noise))
    assert isinstance(weighted, WeightLogPosterior)
    assert not isinstance(dense, WeightLogPosterior)
    theta = thetas(dense, 2, 2)
    close = {"rtol": RELATIVE, "atol": RELATIVE}
    torch.testing.assert_close(weighted(theta), dense(theta), **close)
    for mine, theirs in zip(
        weighted.value_and_gradient(theta), dense.value_and_gradient(theta), strict=True
    ):
        torch.testing.assert_close(mine, theirs, **close)


@pytest.mark.oracle
def test_the_likelihood_is_a_gaussian_density():
    """Of covariance Φ Φᵀ and noise, with the features' norm worked out by hand."""
    _, weighted = both(STRUCTURES[0])
    objective = weighted.log_posterior(use_prior=False)
    kernel, noise = weighted.covar_module, weighted.likelihood.noise
    x = weighted.train_inputs[0] / kernel.base_kernel.lengthscale
    angles = x @ kernel.base_kernel.frequencies.values.mT
    phi = torch.cat([angles.cos(), angles.sin()], -1) / math.sqrt(6)
    K = kernel.outputscale * phi @ phi.mT + noise * torch.eye(40).double()
    mean = weighted.mean_module(weighted.train_inputs[0])
    expected = MultivariateNormal(mean, K).log_prob(weighted.train_targets)
    found = objective(objective.get())
    assert found.item() == pytest.approx(expected.item(), rel=RELATIVE)


def test_by_rows_where_they_are_fewer_than_features():
    _, few = both("SparseSpectrum(frequencies=20)", n=39)
    _, many = both("SparseSpectrum(frequencies=20)", n=41)
    assert not isinstance(few.log_posterior(), WeightLogPosterior)
    assert isinstance(many.log_posterior(), WeightLogPosterior)


def test_unusable_hyperparameters_have_no_density():
    objective = both(STRUCTURES[0])[1].log_posterior()
    theta = torch.stack([objective.get(), torch.full((objective.dim,), torch.nan)])
    value, gradient = objective.value_and_gradient(theta)
    assert torch.isfinite(value[0])
    assert value[1] == -torch.inf
    assert torch.isfinite(gradient).all()
    assert objective(theta)[1] == -torch.inf


@pytest.mark.equivalence
@pytest.mark.parametrize("structure", STRUCTURES[:2])
def test_evidence_and_leave_one_out_are_those_of_dense_covariances(structure):
    dense, weighted = both(structure)
    weighted.fit()
    dense.log_posterior().set(weighted.theta())
    dense.fit_results = weighted.fit_results
    mine, theirs = laplace(weighted), laplace(dense)
    assert mine.log_evidence == pytest.approx(theirs.log_evidence, abs=1e-5)
    found, expected = leave_one_out(weighted), leave_one_out(dense)
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-6, atol=0.0)


def test_evidence_is_sampled_too():
    _, weighted = both("SparseSpectrum(frequencies=3)", n=12)
    weighted.fit()
    found = smc(weighted, particles=64, replicates=5)
    assert abs(found.log_evidence - laplace(weighted).log_evidence) < 2.0


def test_memory_of_a_gradient_does_not_go_by_rows(monkeypatch):
    """What autograd holds is a chunk, of any number of rows."""
    monkeypatch.setitem(weight_objective.CHUNK_ENTRIES, "cpu", 1200)
    held = []
    original = WeightLogPosterior._features

    def measured(self, theta, rows):
        found = original(self, theta, rows)
        held.append(found.numel())
        return found

    monkeypatch.setattr(WeightLogPosterior, "_features", measured)
    objective = both(STRUCTURES[0], n=900)[1].log_posterior()
    objective.value_and_gradient(objective.get().unsqueeze(0))
    assert max(held) <= 1200
    assert len(held) == 2 * 9


# -- predictions ------------------------------------


@pytest.mark.equivalence
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_predictions_are_those_of_dense_covariances(structure, m, noise, chunks):
    dense, weighted = both(structure, noise=noise, m=m)
    for X in (points(5, 1), points(3, 4)):
        mine, theirs = weighted.posterior(X), dense.posterior(X)
        torch.testing.assert_close(mine.mean, theirs.mean, rtol=1e-7, atol=1e-7)
        torch.testing.assert_close(mine.variance, theirs.variance, rtol=1e-6, atol=2e-5)
    single = points(5, 1)
    torch.testing.assert_close(
        weighted.posterior(single).variance,
        dense.posterior(single).variance,
        rtol=1e-6,
        atol=1e-7,
    )


def test_gradients_in_the_points():
    _, weighted = both(STRUCTURES[1])

    def moments(X):
        posterior = weighted.posterior(X)
        return posterior.mean, posterior.variance

    assert gradcheck(moments, points(2, 2).requires_grad_(), eps=1e-6, atol=1e-5)


@pytest.mark.equivalence
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("m", [1, 2])
def test_conditioning_is_a_fit_of_all_points(noise, m):
    """In one step, in two, and as a batch of fantasies: to 1e-8."""
    X, Y = training_data(n=30, m=m)
    Yvar = None if noise is None else torch.linspace(0.1, 1.0, 30 * m).reshape(30, m)
    Yvar = None if Yvar is None else Yvar.to(Y)
    structure = "SparseSpectrum(frequencies=7) + Linear()"

    def built(rows):
        known = None if Yvar is None else Yvar[rows]
        model = WeightSpaceGP(
            X[rows], Y[rows], known, structure=structure, outcome_transform=None
        )
        return randomize(model)

    whole, part = built(slice(None)), built(slice(24))
    X_test = points(6, 1, seed=7)
    part.posterior(X_test)

    def more(model, rows):
        known = {} if Yvar is None else {"noise": Yvar[rows]}
        return model.condition_on_observations(X[rows], Y[rows], **known)

    at_once = more(part, slice(24, 30))
    in_steps = more(more(part, slice(24, 26)), slice(26, 30))
    expected = whole.posterior(X_test)
    for model in (at_once, in_steps):
        found = model.posterior(X_test)
        close = {"rtol": 1e-8, "atol": 1e-8}
        torch.testing.assert_close(found.mean, expected.mean, **close)
        torch.testing.assert_close(found.variance, expected.variance, **close)
    again = at_once.train().eval().posterior(X_test)
    torch.testing.assert_close(again.mean, expected.mean, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("baseline", [3, 10, 25])
def test_noisy_improvement_over_fewer_as_many_and_more_points_than_features(baseline):
    _, model = both("SparseSpectrum(nu=0.5, frequencies=5)", n=30)
    sampler = SobolQMCNormalSampler(torch.Size([2**12]), seed=0)
    values = [
        qLogNoisyExpectedImprovement(
            model,
            X_baseline=points(baseline, seed=4),
            sampler=sampler,
            prune_baseline=False,
            cache_root=cached,
        )(points(6, 2, seed=5)).exp()
        for cached in (True, False)
    ]
    torch.testing.assert_close(*values, rtol=0.05, atol=2e-3)


# -- draws of functions ------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("conditioned", [False, True])
def test_paths_come_from_the_posterior(m, conditioned):
    """Means within 4.5 standard errors, variances within 5 %, of 20 000 functions."""
    X, Y = training_data(n=20, m=m)
    structure = "SparseSpectrum(frequencies=16) + Linear()"
    transform = Normalize(3, bounds=torch.tensor([[-1.0] * 3, [2.0] * 3]).double())
    model = randomize(
        WeightSpaceGP(X, Y, structure=structure, input_transform=transform)
    )
    X_test = points(4, seed=9)
    if conditioned:
        model.posterior(X_test)
        more = training_data(n=3, m=m, seed=5)
        model = model.condition_on_observations(*more)
    torch.manual_seed(0)
    draws = 20_000
    paths = draw_matheron_paths(model, torch.Size([draws]))
    values = paths(X_test).reshape(draws, m, 4)
    posterior = model.posterior(X_test.unsqueeze(-2))
    mean, variance = (v.squeeze(-2).mT for v in (posterior.mean, posterior.variance))
    score = (values.mean(0) - mean) / (variance / draws).sqrt()
    assert score.abs().max() < 4.5
    torch.testing.assert_close(values.var(0), variance, rtol=0.05, atol=0.0)


def test_a_path_is_a_function_and_stays_as_it_was_drawn():
    _, model = both(STRUCTURES[0])
    path = draw_matheron_paths(model, torch.Size([2]))
    X = points(5)
    first = path(X)
    randomize(model, seed=3)
    assert torch.equal(path(X), first)
    assert torch.allclose(path(X.flip(0)).flip(-1), first)


@pytest.mark.oracle
def test_weights_after_an_update_have_the_covariance_of_all_rows():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(9, 5, generator=generator, dtype=torch.float64)
    targets = torch.randn(9, generator=generator, dtype=torch.float64)
    B = torch.eye(5).double() + rows.mT @ rows
    first, later = rows[:6], rows[6:]
    posterior = WeightPosterior.of(first.mT @ first, first.mT @ targets[:6])
    posterior = posterior.updated(later, targets[6:])
    expected = torch.linalg.solve(B, rows.mT @ targets)
    torch.testing.assert_close(posterior.mean, expected, rtol=1e-10, atol=1e-10)
    # Draws are linear in the standard normal numbers: their matrix has this square.
    basis = posterior.draw(torch.eye(5).double()) - posterior.mean
    torch.testing.assert_close(
        basis.mT @ basis, torch.linalg.inv(B), rtol=1e-9, atol=1e-10
    )


# -- which structures ------------------------------------


def test_chosen_where_waves_are():
    data = read_observations(*training_data(n=20))
    assert type(unfitted("SparseSpectrum(frequencies=4)", data)) is WeightSpaceGP
    mixed = unfitted("SparseSpectrum(frequencies=4) + RBF()", data)
    assert type(mixed) is StructuredGP
    assert type(unfitted("Linear()", data)) is StructuredGP
    assert type(unfitted("Linear()", data, inference="weights")) is WeightSpaceGP
    assert has_weights("Kumaraswamy(SparseSpectrum())", 2)
    assert not has_weights("Linear()", 2)


def test_too_many_features_are_left_to_the_rows():
    """A product multiplies the counts of its parts."""
    data = read_observations(*training_data(n=20))
    large = "SparseSpectrum(frequencies=64) * SparseSpectrum(frequencies=64, seed=1)"
    model = unfitted(large, data)
    assert type(model) is StructuredGP
    assert model.eval().posterior(points(2)).mean.isfinite().all()
    with pytest.raises(StructureError, match="at most 8192 features"):
        unfitted(large, data, inference="weights")


@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
@pytest.mark.parametrize("structure", ["SparseSpectrum(frequencies=6)", STRUCTURES[-1]])
def test_float32(structure):
    """Predictions, gradients, conditioning and paths, near those of float64."""
    X, Y = training_data(n=30)
    double = randomize(WeightSpaceGP(X, Y, structure=structure))
    single = WeightSpaceGP(X.float(), Y.float(), structure=structure)
    single.load_state_dict(double.state_dict())
    single.train().eval()
    X_test = points(4, 1)
    near = single.posterior(X_test.float()).mean
    assert near.dtype == torch.float32
    expected = double.posterior(X_test).mean
    torch.testing.assert_close(near.double(), expected, rtol=1e-3, atol=1e-3)
    more = training_data(n=2, seed=3)
    conditioned = single.condition_on_observations(*(t.float() for t in more))
    assert conditioned.posterior(X_test.float()).variance.isfinite().all()
    path = draw_matheron_paths(single, torch.Size([2]))
    assert path(points(3).float()).isfinite().all()


def test_variances_do_not_depend_on_how_points_are_asked_for():
    """Of a function known almost without noise."""
    X = points(60, d=2)
    y = torch.sin(9.0 * X[:, 0]) + X[:, 1]
    model = bokern.fit("SparseSpectrum(frequencies=8)", X, y, noise=1e-5, starts=2)
    X_test = points(2, d=2, seed=5)
    together = model.posterior(X_test).variance.squeeze(-1)
    apart = model.posterior(X_test.unsqueeze(-2)).variance.flatten()
    torch.testing.assert_close(together, apart, rtol=1e-5, atol=0.0)


def test_pseudo_targets_are_fitted_to_the_optimum(monkeypatch):
    X, Y = training_data(n=50)
    for work in (2**31, 0):
        monkeypatch.setattr(weight_objective, "NEWTON_WORK", work)
        model = WeightSpaceGP(X, Y, structure="SSWIM(frequencies=4)", starts=2).fit()
        assert model.fit_result.gradient_norm < (1e-5 if work else 1e-2)


def test_parts_without_features_are_refused():
    with pytest.raises(StructureError, match="made of SparseSpectrum, SSWIM and"):
        WeightSpaceGP(*training_data(), structure="RBF() + SparseSpectrum()")


def test_fit_and_compare_take_them():
    X, Y = training_data(n=30)
    model = bokern.fit("SparseSpectrum(frequencies=16)", X, Y, starts=2)
    assert isinstance(model, WeightSpaceGP)
    found = bokern.compare(["SparseSpectrum(frequencies=16)", "Matern(2.5)"], X, Y)
    assert len(found.table) == 2


def test_a_fit_bends_inputs_after_the_rest_has_been_found():
    """Steps: SSWIM is fitted to more than the waves that it begins with."""
    X = torch.linspace(0.0, 1.0, 80, dtype=torch.float64).unsqueeze(-1)
    y = torch.where(X < 0.3, torch.sin(60.0 * X), torch.sin(6.0 * X))
    fits = {}
    for text in ("SparseSpectrum", "SSWIM"):
        waves = f"{text}(spectrum='rbf', frequencies=20)"
        fits[text] = bokern.fit(waves, X, y, starts=2)
    warped, plain = fits["SSWIM"], fits["SparseSpectrum"]
    kernel = warped.covar_module.base_kernel
    bent = torch.stack([kernel.raw_gain, kernel.raw_shift])
    assert bent.abs().max() > 1.0
    found = (m.fit_result.log_likelihood for m in (warped, plain))
    assert next(found) > next(found) + 5.0


def test_the_waves_lie_within_the_warp():
    """Lifted to the identity, the likelihood is that of the plain waves."""
    data = read_observations(*training_data(n=30))
    waves = "spectrum='product-matern', nu=1.5, frequencies=6"
    parent = unfitted(f"SparseSpectrum({waves})", data, starts=1).fit()
    child = unfitted(f"SSWIM({waves})", data)
    assert child.structure.contains(parent.structure)
    objective = child.log_posterior(use_prior=False)
    theta = lifted_start(child, parent)
    expected = parent.fit_result.log_likelihood
    assert objective(theta).item() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SparseSpectrum(spectrum='cauchy')", "rbf, matern, product-matern"),
        ("SparseSpectrum(nu=2)", "0.5, 1.5, 2.5"),
        ("SparseSpectrum(frequencies=0)", "1 <= frequencies <= 4096"),
        ("SparseSpectrum(frequencies=1.5)", "whole number"),
        ("SparseSpectrum(seed=-1)", "0 <= seed"),
        ("SSWIM(layers=0)", "SSWIM expects a whole number 1 <= layers <= 8"),
        ("SSWIM(pseudo_points='8')", "1 <= pseudo_points"),
        ("SSWIM(moments='exact')", "matched, plug-in"),
    ],
)
def test_malformed_structures(text, message):
    with pytest.raises(StructureError, match=message):
        bokern.structures.parse(text)


@pytest.mark.parametrize("text", ["SparseSpectrum", "SSWIM"])
def test_many_rows_are_come_near_to_by_a_part_of_them(text, monkeypatch):
    """A fit then ends within a few nats of one by all rows throughout."""
    X = torch.rand(200, 1, generator=torch.Generator().manual_seed(0)).double()
    y = torch.sin(12.0 * X.square()) + 0.1 * torch.cos(300.0 * X)
    waves = f"{text}(spectrum='rbf', frequencies=12)"
    whole = bokern.fit(waves, X, y, starts=2)
    assert whole.log_posterior().thinned(torch.Generator()) is None
    monkeypatch.setattr("bokern.models.weight_objective.THINNED_ROWS", 60)
    part = whole.log_posterior().thinned(torch.Generator())
    assert part is not None
    assert part.num_data == 60
    near = bokern.fit(waves, X, y, starts=2)
    assert abs(near.fit_result.objective - whole.fit_result.objective) < 5.0


def test_fewer_iterations_are_affordable_of_more_rows(monkeypatch):
    model = bokern.fit("SparseSpectrum(frequencies=4)", *training_data(n=40), starts=1)
    objective = model.log_posterior()
    assert objective.affordable == 500
    each = objective.num_data * objective.num_features**2
    name = "bokern.models.weight_objective.ITERATED_WORK"
    for work, expected in ((30 * each, 30), (each, 8)):
        monkeypatch.setattr(name, work)
        assert objective.affordable == expected
