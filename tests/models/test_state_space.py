from __future__ import annotations

import math

import pytest
import torch
from botorch.models.transforms import Normalize, Standardize
from gpytorch.means import LinearMean, ZeroMean
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import bokern
from bokern.build import restored, unfitted
from bokern.errors import InputError, ShapeError, StructureError
from bokern.evidence import bic, laplace, leave_one_out, plug_in
from bokern.evidence.smc import smc
from bokern.inputs import read_observations
from bokern.models import MixtureGP, StateSpaceGP, StructuredGP, choice
from bokern.models.markov_objective import MarkovLogPosterior
from tests.inference.series import STRUCTURES, irregular
from tests.models.data import moments, randomize

VALUE = 1e-10
"""Relative: what the design asks of the filter against dense covariances."""

DERIVATIVE = 1e-8
"""Of two derivatives of a log density of some hundreds of nats."""

NOISES = (None, "same", "different")


def series(n: int = 40, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs in [-3, 7], unsorted and with repeats, and targets far from unit scale."""
    t, y = irregular(n, seed)
    return (10.0 * t - 3.0).unsqueeze(-1), (5.0 + 3.0 * y).unsqueeze(-1)


def both(
    structure: str, n: int = 40, noise: str | None = None, seed: int = 0, **options
) -> tuple[StructuredGP, StateSpaceGP]:
    """The dense model and the filtered one, alike."""
    X, Y = series(n, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    Yvar = {
        None: None,
        "same": torch.full_like(Y, 0.3),
        "different": 0.1 + torch.rand(Y.shape, generator=generator).to(Y),
    }[noise]
    box = torch.tensor([[-5.0], [10.0]], dtype=torch.float64)
    options = {"input_transform": Normalize(1, bounds=box)} | options
    dense, filtered = (
        kind(X, Y, Yvar, structure=structure, **options)
        for kind in (StructuredGP, StateSpaceGP)
    )
    randomize(dense, seed=seed)
    filtered.load_state_dict(dense.state_dict())
    return dense, filtered.train().eval()


def thetas(objective, *lead: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5)
    shape = (*lead, objective.dim)
    return 0.6 * torch.randn(shape, generator=generator, dtype=torch.float64) - 0.6


# -- the objective ------------------------------------


@pytest.mark.equivalence
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("text", STRUCTURES)
def test_value_gradient_and_hessian_are_the_dense_ones(text, noise):
    dense, filtered = (m.log_posterior() for m in both(text, noise=noise))
    assert isinstance(filtered, MarkovLogPosterior)
    theta = thetas(dense, 2, 3)
    torch.testing.assert_close(
        filtered.log_likelihood(theta), dense.log_likelihood(theta), rtol=VALUE, atol=0
    )
    torch.testing.assert_close(filtered(theta), dense(theta), rtol=VALUE, atol=0)
    for ours, theirs in zip(
        filtered.value_and_gradient(theta),
        dense.value_and_gradient(theta),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=DERIVATIVE, atol=DERIVATIVE)
    one = theta[0, 0]
    torch.testing.assert_close(
        filtered.hessian(one), dense.hessian(one), rtol=DERIVATIVE, atol=DERIVATIVE
    )


@pytest.mark.parametrize("mean", [ZeroMean, lambda: LinearMean(1).double()])
@pytest.mark.parametrize("use_prior", [True, False])
def test_any_mean_with_or_without_priors(mean, use_prior):
    dense, filtered = both("Matern(1.5)", mean_module=mean())
    ours, theirs = (m.log_posterior(use_prior) for m in (filtered, dense))
    theta = thetas(theirs, 2)
    for a, b in zip(
        ours.value_and_gradient(theta), theirs.value_and_gradient(theta), strict=True
    ):
        torch.testing.assert_close(a, b, rtol=DERIVATIVE, atol=DERIVATIVE)
    at = torch.linspace(-4.0, 9.0, 5, dtype=torch.float64).unsqueeze(-1)
    for a, b in zip(
        moments(filtered.posterior(at)), moments(dense.posterior(at)), strict=True
    ):
        torch.testing.assert_close(a, b)


def test_some_rows_are_filtered_too():
    dense, filtered = both("Matern(2.5)", noise="different")
    rows = torch.tensor([3, 1, 17, 30])
    part = filtered.log_posterior().on_rows(rows)
    assert isinstance(part, MarkovLogPosterior)
    theta = thetas(part, 2)
    expected = dense.log_posterior().on_rows(rows)(theta)
    torch.testing.assert_close(part(theta), expected, rtol=VALUE, atol=0)


def test_what_cannot_be_used_is_minus_infinity_alone():
    objective = both("Matern(2.5)")[1].log_posterior()
    theta = thetas(objective, 3)
    theta[1] = math.nan
    theta[2] = 800.0
    value, gradient = objective.value_and_gradient(theta)
    assert value[1] == value[2] == -math.inf
    assert bool(torch.isfinite(gradient).all())
    alone = objective.value_and_gradient(theta[:1])
    torch.testing.assert_close(value[:1], alone[0])
    torch.testing.assert_close(gradient[:1], alone[1])
    assert torch.equal(objective.log_likelihood(theta)[1:], value[1:])


def test_fixed_hyperparameters_are_no_coordinates():
    _, filtered = both("Matern(0.5)", noise="same", mean_module=ZeroMean())
    whole = filtered.log_posterior()
    value = whole(whole.get())
    kernel = filtered.covar_module
    kernel.base_kernel.raw_lengthscale.requires_grad_(False)
    assert filtered.log_posterior().dim == whole.dim - 1
    kernel.raw_outputscale.requires_grad_(False)
    none = filtered.log_posterior(use_prior=False)
    found, gradient = none.value_and_gradient(none.get())
    assert gradient.shape == (0,)
    torch.testing.assert_close(found, value - whole.log_prior(whole.get()))


def test_memory_is_counted_by_rows():
    small, large = (both("Matern(0.5)", n=n)[1].log_posterior() for n in (20, 40))
    assert large.entries == 2 * small.entries
    wide = both("Matern(2.5) * Matern(2.5)", n=20)[1].log_posterior()
    assert wide.entries > small.entries


# -- fits and evidence ------------------------------------


@pytest.mark.equivalence
@pytest.mark.parametrize("text", ["Matern(2.5)", "Linear() + Matern(0.5)"])
@pytest.mark.parametrize("noise", [None, "different"])
def test_fits_and_evidence_are_the_dense_ones(text, noise):
    dense, filtered = both(text, noise=noise, starts=2)
    dense.fit()
    filtered.fit()
    ours, theirs = filtered.fit_result, dense.fit_result
    assert ours.objective == pytest.approx(theirs.objective, rel=VALUE)
    assert ours.theta == pytest.approx(theirs.theta, abs=1e-6)
    assert ours.seed == theirs.seed
    evidence, expected = laplace(filtered), laplace(dense)
    for name in ("log_evidence", "bic", "leave_one_out", "effective_hyperparameters"):
        found = getattr(evidence, name)
        assert found == pytest.approx(getattr(expected, name), rel=1e-7), name
    assert evidence - expected == pytest.approx(0.0, abs=1e-7)
    assert evidence.kind == expected.kind == "exact/laplace"
    assert evidence.flags == expected.flags
    assert bic(filtered) == pytest.approx(bic(dense), rel=1e-8)
    assert plug_in(filtered) == pytest.approx(plug_in(dense), rel=1e-8)


@pytest.mark.equivalence
def test_sampled_evidence_is_the_dense_one():
    dense, filtered = both("Matern(1.5)", n=20, starts=1)
    dense.fit()
    filtered.fit()
    ours, theirs = (smc(m, particles=32, replicates=5) for m in (filtered, dense))
    assert ours.log_evidence == pytest.approx(theirs.log_evidence, abs=1e-6)


@pytest.mark.equivalence
@pytest.mark.parametrize("noise", NOISES)
def test_leaving_one_out_is_the_dense_one(noise):
    dense, filtered = both("Matern(1.5) + Matern(0.5)", n=70, noise=noise)
    ours, theirs = leave_one_out(filtered), leave_one_out(dense)
    for name in ("mean", "variance", "log_density", "residual"):
        a, b = getattr(ours, name), getattr(theirs, name)
        torch.testing.assert_close(a, b, rtol=DERIVATIVE, atol=DERIVATIVE)


@pytest.mark.oracle
def test_leaving_one_out_is_predicting_from_the_others():
    X, Y = series(25)
    plain = {"outcome_transform": None, "structure": "Matern(2.5)"}
    model = randomize(StateSpaceGP(X, Y, **plain))
    found = leave_one_out(model)
    for i in (0, 6, 13):
        others = torch.arange(25) != i
        rest = StateSpaceGP(X[others], Y[others], **plain)
        rest.load_state_dict(model.state_dict())
        posterior = rest.eval().posterior(X[[i]], observation_noise=True)
        assert found.mean[i].item() == pytest.approx(posterior.mean.item())
        assert found.variance[i].item() == pytest.approx(posterior.variance.item())


# -- predictions ------------------------------------


@pytest.mark.equivalence
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("text", STRUCTURES)
def test_joint_posteriors_are_the_dense_ones(text, noise):
    dense, filtered = both(text, n=60, noise=noise, outcome_transform=Standardize(1))
    X, _ = series(60)
    at = torch.cat([torch.linspace(-6.0, 11.0, 17).to(X).unsqueeze(-1), X[:4]])
    for visible in (False, True):
        ours, theirs = (
            m.posterior(at, observation_noise=visible).distribution
            for m in (filtered, dense)
        )
        torch.testing.assert_close(ours.mean, theirs.mean)
        torch.testing.assert_close(ours.covariance_matrix, theirs.covariance_matrix)


def test_predictions_do_not_differentiate_hyperparameters_of_the_kernel():
    _, filtered = both("Matern(1.5)")
    at = torch.tensor([[0.3]], dtype=torch.float64, requires_grad=True)
    filtered.posterior(at).variance.sum().backward()
    assert at.grad.abs() > 0.0
    assert all(p.grad is None for p in filtered.covar_module.parameters())


def test_conditioning_keeps_the_inference():
    X, Y = series()
    _, filtered = both("Matern(1.5)")
    filtered.posterior(X[:2])
    conditioned = filtered.condition_on_observations(X[:3].flip(0) + 0.01, Y[:3])
    assert isinstance(conditioned, StateSpaceGP)
    assert conditioned.train_targets.shape == (43,)
    again = conditioned.condition_on_observations(X[:1], Y[:1])
    assert again.posterior(X[:2]).mean.shape == (2, 1)
    assert filtered.train_targets.shape == (40,)


def test_too_large_a_joint_covariance_is_refused(monkeypatch):
    monkeypatch.setattr("bokern.models.direct.JOINT_LIMIT", 10)
    _, filtered = both("Matern(1.5)")
    X, _ = series()
    with pytest.raises(ShapeError, match=r"40 points.*at most 10.*X\.unsqueeze\(-2\)"):
        filtered.posterior(X)
    singles = filtered.posterior(X.unsqueeze(-2)).variance
    monkeypatch.undo()
    torch.testing.assert_close(singles.squeeze(-1), filtered.posterior(X).variance)


def test_a_mixture_takes_both_kinds():
    dense, filtered = both("Matern(1.5)")
    other = both("Matern(0.5)")[0]
    X, _ = series()
    mixed = MixtureGP.from_members([filtered, other], [0.5, 0.5])
    expected = MixtureGP.from_members([dense, other], [0.5, 0.5])
    for a, b in zip(
        moments(mixed.posterior(X[:3])), moments(expected.posterior(X[:3])), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("text", ["RBF()", "Matern(0.5) + Periodic()"])
def test_structures_without_a_state_are_refused(text):
    with pytest.raises(StructureError, match=r"one column.*use StructuredGP"):
        StateSpaceGP(*series(), structure=text)
    with pytest.raises(StructureError, match="use StructuredGP"):
        StateSpaceGP(torch.rand(5, 2).double(), torch.rand(5, 1).double())


# -- cost ------------------------------------


class _Largest(TorchDispatchMode):
    """Notes the largest tensor that any operation makes."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self.numel = max(self.numel, leaf.numel())
        return out


@pytest.mark.parametrize("text", ["Matern(0.5)", "Matern(2.5) + Linear()"])
def test_no_tensor_grows_faster_than_the_data(text):
    """Of likelihood, derivatives, evidence, leave-one-out and posteriors."""
    largest = []
    for n in (1000, 4000):
        X, Y = series(n)
        model = StateSpaceGP(X, Y, structure=text, input_transform=Normalize(1))
        with _Largest() as seen:
            objective = model.log_posterior()
            objective.value_and_gradient(objective.get())
            objective.hessian(objective.get())
            laplace(model)
            leave_one_out(model)
            model.posterior(X[:50])
            model.posterior(X.unsqueeze(-2))
            conditioned = model.condition_on_observations(X[:2], Y[:2])
            conditioned.posterior(X[:2])
        largest.append(seen.numel)
    assert largest[1] < 5 * largest[0]
    assert largest[1] < 4000**2 / 10


# -- which is chosen ------------------------------------


def test_long_series_are_filtered(monkeypatch):
    monkeypatch.setattr(choice, "KALMAN_FROM", 30)
    for n, structure, kind in (
        (40, "Matern(2.5)", StateSpaceGP),
        (20, "Matern(2.5)", StructuredGP),
        (40, "RBF()", StructuredGP),
        (40, "Matern(0.5) + RBF()", StructuredGP),
    ):
        X, Y = series(n)
        data = read_observations(X, Y)
        assert type(unfitted(structure, data)) is kind
        assert type(unfitted(structure, data, inference="exact")) is StructuredGP
    wide = read_observations(torch.cat([X, X.square()], -1), Y)
    assert type(unfitted("Matern(2.5)", wide)) is StructuredGP
    assert type(unfitted("Matern(2.5, columns=[1])", wide)) is StateSpaceGP


def test_the_user_chooses():
    X, Y = series(20)
    options = {"starts": 1, "inference": "kalman"}
    model = bokern.fit("Matern(1.5)", X, Y, **options)
    assert isinstance(model, StateSpaceGP)
    exact = bokern.fit("Matern(1.5)", X, Y, starts=1, inference="exact")
    assert model.fit_result.objective == pytest.approx(exact.fit_result.objective)
    data = read_observations(X, Y)
    again = restored(
        unfitted("Matern(1.5)", data, inference="kalman"), exact.fit_result
    )
    assert laplace(again).log_evidence == pytest.approx(laplace(exact).log_evidence)
    with pytest.raises(StructureError, match="use StructuredGP"):
        bokern.fit("RBF()", X, Y, **options)
    with pytest.raises(InputError, match="exact, kalman, weights, got 'fast'"):
        bokern.fit("Matern(1.5)", X, Y, inference="fast")


def test_comparisons_mix_both(monkeypatch):
    monkeypatch.setattr(choice, "KALMAN_FROM", 30)
    X, Y = series(40)
    structures = ["Matern(0.5)", "Linear() + Matern(0.5)", "RBF()"]
    options = {"starts": 2, "progress": False}
    found = bokern.compare(structures, X, Y, **options)
    assert isinstance(found.model("Matern(0.5)"), StateSpaceGP)
    monkeypatch.setattr(choice, "KALMAN_FROM", 1000)
    expected = bokern.compare(structures, X, Y, **options)
    assert found.structures == expected.structures
    for a, b in zip(found.evidences, expected.evidences, strict=True):
        assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-6)
