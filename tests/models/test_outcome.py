from __future__ import annotations

import math
import pickle
from copy import deepcopy

import numpy as np
import pytest
import torch
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.models.transforms.outcome import (
    Bilog,
    ChainedOutcomeTransform,
    Log,
    Standardize,
)
from botorch.optim import optimize_acqf
from botorch.sampling.normal import IIDNormalSampler, SobolQMCNormalSampler
from scipy import stats

from bokern.errors import EvidenceError, InputError
from bokern.models import MixtureGP, StructuredGP
from bokern.models.outcome import outcome_transform, read_outcome, yeo_johnson_text
from bokern.models.outcome_steps import (
    gaussian_part,
    log_slopes,
    nonlinear_steps,
    outcome_steps,
    quantiles,
    raw_moments,
)
from bokern.models.transformed_mixture import TransformedMixturePosterior
from bokern.models.yeo_johnson import YeoJohnson
from tests.models.data import points, randomize, training_data
from tests.tolerances import ROUNDING, SUMS

TEXTS = ("log", "yeo-johnson(0.3)", "yeo-johnson(1.8)")
WEIGHTS = (0.5, 0.25, 0.25)

STANDARD_ERRORS = 5.0
PREDICTION = 1e-6
"""GPyTorch's posteriors add jitter to factorise."""

QUADRATURE = 1e-4
"""Gauss-Hermite with 64 nodes against closed forms and SciPy."""


def model_under(text: str, structure: str = "RBF()", **options) -> StructuredGP:
    X, Y = training_data()
    Y = Y + 4.0
    transform = outcome_transform(text, Y.squeeze(-1), standardize=True)
    model = StructuredGP(
        X, Y, structure=structure, outcome_transform=transform, **options
    )
    return randomize(model)


def mixture_under(text: str) -> MixtureGP:
    structures = ("Matern(0.5)", "RBF()", "Linear() + RBF()")
    members = [model_under(text, structure) for structure in structures]
    return MixtureGP.from_members(members, WEIGHTS)


# -- texts ------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("identity", ("identity", None)),
        ("log", ("log", None)),
        ("yeo-johnson", ("yeo-johnson", None)),
        ("yeo-johnson(0)", ("yeo-johnson", 0.0)),
        ("yeo-johnson(1.25)", ("yeo-johnson", 1.25)),
    ],
)
def test_texts_are_read(text, expected):
    assert read_outcome(text) == expected


def test_a_power_survives_its_text():
    for power in (0.0, 0.3, 1.0 / 3.0, 2.0):
        assert read_outcome(yeo_johnson_text(power))[1] == pytest.approx(power)
    assert yeo_johnson_text(0.3) == "yeo-johnson(0.3)"


MALFORMED = ("Log", "log(2)", "yeo-johnson()", "yeo-johnson(x)", "yeo-johnson(0.3")
UNKNOWN = ("", None, 3, "auto", "yeo-johnson(nan)", "box-cox")


@pytest.mark.parametrize("text", [*MALFORMED, *UNKNOWN])
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="'identity', 'log', 'yeo-johnson'"):
        read_outcome(text)


def test_powers_out_of_range_and_missing_powers_are_refused():
    with pytest.raises(InputError, match="from 0 to 2"):
        read_outcome("yeo-johnson(-0.5)")
    y = torch.arange(5.0, dtype=torch.float64)
    with pytest.raises(InputError, match="needs the power"):
        outcome_transform("yeo-johnson", y, True)


@pytest.mark.parametrize("least", [0.0, -2.0])
def test_log_needs_positive_targets(least):
    y = torch.tensor([1.0, least, 3.0], dtype=torch.float64)
    with pytest.raises(InputError, match=f"the least is {least:g}: use outcome="):
        outcome_transform("log", y, True)


@pytest.mark.parametrize(
    ("text", "y"),
    [
        ("yeo-johnson(2)", [0.0, 1e-200, 2e-200, 3e-200, 1.0]),
        ("log", [1e20, 1e20 * (1.0 + 2.3e-16), 1e20]),
    ],
)
def test_targets_that_a_transform_breaks_are_refused(text, y):
    with pytest.raises(InputError, match="cannot be transformed by"):
        outcome_transform(text, torch.tensor(y, dtype=torch.float64), True)


def test_steps_are_explicit():
    y = torch.tensor([1.0, 2.0, 4.0, 8.0], dtype=torch.float64)
    assert outcome_transform("identity", y, False) is None
    assert type(outcome_transform("identity", y, True)) is Standardize
    assert type(outcome_transform("log", y, False)) is Log
    chain = outcome_transform("yeo-johnson(0.3)", y, True)
    assert [type(s) for s in outcome_steps(chain)] == [YeoJohnson, Standardize]
    assert [type(s) for s in nonlinear_steps(chain)] == [YeoJohnson]
    assert nonlinear_steps(outcome_transform("identity", y, True)) == []


@pytest.mark.oracle
def test_yeo_johnson_is_in_units_of_the_quartiles():
    y = np.array([-4.0, 0.0, 1.0, 2.0, 90.0])
    scale = 2.0 / 1.349
    chain = outcome_transform("yeo-johnson(0.3)", torch.from_numpy(y), True)
    z, _ = chain(torch.from_numpy(y).unsqueeze(-1))
    expected = stats.zscore(stats.yeojohnson((y - 1.0) / scale, 0.3), ddof=1)
    np.testing.assert_allclose(z.numpy().ravel(), expected, rtol=SUMS)


@pytest.mark.parametrize("text", TEXTS[1:])
@pytest.mark.parametrize(("factor", "shift"), [(1e-9, 0.0), (1e12, -3e12)])
def test_units_do_not_matter(text, factor, shift):
    y = training_data()[1].squeeze(-1)
    both = [v.unsqueeze(-1) for v in (y, factor * y + shift)]
    z = [outcome_transform(text, v.squeeze(-1), True)(v)[0] for v in both]
    torch.testing.assert_close(z[0], z[1], rtol=SUMS, atol=SUMS)


def test_more_than_half_ties_have_a_scale_too():
    y = torch.tensor([0.0] * 8 + [3.0], dtype=torch.float64)
    chain = outcome_transform("yeo-johnson(0.3)", y, True)
    assert outcome_steps(chain)[0].scale.item() == pytest.approx(y.std().item())


# -- slopes and moments ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("text", ["identity", *TEXTS])
def test_slopes_of_a_chain_are_its_derivative(text):
    Y = training_data()[1] + 4.0
    chain = outcome_transform(text, Y.squeeze(-1), True)
    chain(Y)
    chain.eval()
    moved = Y.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(chain(moved)[0].sum(), moved)
    torch.testing.assert_close(log_slopes(chain, Y), slope.log(), rtol=SUMS, atol=SUMS)


@pytest.mark.oracle
def test_slopes_of_several_bends_are_taken_where_each_acts():
    Y = training_data()[1]
    chain = ChainedOutcomeTransform(
        units=Standardize(1), first=YeoJohnson(0.4), second=YeoJohnson(1.7)
    )
    chain(Y)
    chain.eval()
    moved = Y.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(chain(moved)[0].sum(), moved)
    torch.testing.assert_close(log_slopes(chain, Y), slope.log(), rtol=SUMS, atol=SUMS)


def test_slopes_teach_the_transform_nothing():
    Y = training_data()[1]
    chain = outcome_transform("yeo-johnson(0.3)", Y.squeeze(-1), True).train()
    chain(Y)
    before = deepcopy(chain.state_dict())
    log_slopes(chain, Y * 7.0)
    assert chain.training
    assert all(torch.equal(before[k], v) for k, v in chain.state_dict().items())


def test_unknown_steps_are_refused():
    Y = training_data()[1]
    with pytest.raises(EvidenceError, match="Jacobian of Bilog is not known: use Log"):
        log_slopes(Bilog(), Y)
    with pytest.raises(EvidenceError, match="Bilog"):
        raw_moments(Bilog(), Y.squeeze(-1), Y.squeeze(-1).square())


@pytest.mark.equivalence
@pytest.mark.parametrize("text", ["identity", *TEXTS])
def test_raw_moments_are_those_of_the_posterior(text):
    model = model_under(text)
    z = gaussian_z(model, points(5))
    mean, variance = raw_moments(model.outcome_transform, z.mean, z.variance)
    posterior = model.posterior(points(5))
    torch.testing.assert_close(mean, posterior.mean.squeeze(-1))
    torch.testing.assert_close(variance, posterior.variance.squeeze(-1))


def gaussian_z(model: StructuredGP, X: torch.Tensor):
    """The posterior in the model's own units."""
    bare = deepcopy(model)
    del bare.outcome_transform
    return bare.posterior(X).distribution


# -- data ------------------------------------


@pytest.mark.parametrize("text", ["identity", *TEXTS])
def test_raw_targets_are_those_given_to_the_last_bit(text):
    X, Y = training_data(n=10)
    Y = Y.exp()
    Y[3] = 1e9  # a penalty
    transform = outcome_transform(text, Y.squeeze(-1), True)
    model = StructuredGP(X, Y, outcome_transform=transform)
    assert torch.equal(model.raw_targets, Y)
    assert torch.equal(model.eval().raw_targets, Y)
    model.set_train_data(targets=model.train_targets.clone())
    assert torch.equal(model.raw_targets, Y)


@pytest.mark.parametrize("text", ["identity", *TEXTS])
def test_replaced_targets_are_seen(text):
    model = model_under(text)
    given = model.raw_targets
    model.set_train_data(targets=model.train_targets + 1e-3)
    moved = model.raw_targets
    assert bool(((moved - given).abs() > 1e-5).all())
    back = deepcopy(model.outcome_transform).eval()(moved)[0].squeeze(-1)
    torch.testing.assert_close(back, model.train_targets)


# -- posteriors of a model ------------------------------------


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("lead", [(), (2,), (3, 2)])
def test_shapes_gradients_and_repeats(text, lead):
    model = model_under(text)
    X = points(*lead, 4).requires_grad_(True)
    posterior = model.posterior(X)
    assert posterior.mean.shape == posterior.variance.shape == (*lead, 4, 1)
    assert posterior.rsample(torch.Size([2])).shape == (2, *lead, 4, 1)
    assert bool((posterior.variance > 0).all())
    noisy = model.posterior(X, observation_noise=True)
    assert bool((noisy.variance > posterior.variance).all())
    assert torch.equal(model.posterior(X).mean, posterior.mean)
    (posterior.mean.sum() + posterior.variance.sum()).backward()
    assert bool(torch.isfinite(X.grad).all())


@pytest.mark.oracle
def test_log_has_log_normal_moments():
    model = model_under("log")
    z = gaussian_z(model, points(4))
    step = model.outcome_transform["standardize"]
    m = (step.means + step.stdvs * z.mean).detach().numpy().ravel()
    s = (step.stdvs * z.stddev).detach().numpy().ravel()
    law = stats.lognorm(s, scale=np.exp(m))
    posterior = model.posterior(points(4))
    np.testing.assert_allclose(
        posterior.mean.detach().numpy().ravel(), law.mean(), rtol=PREDICTION
    )
    np.testing.assert_allclose(
        posterior.variance.detach().numpy().ravel(), law.var(), rtol=PREDICTION
    )


@pytest.mark.statistical
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("build", [model_under, mixture_under])
def test_samples_agree_with_moments_and_quantiles(text, build):
    torch.manual_seed(0)
    posterior = build(text).posterior(points(3), observation_noise=True)
    draws = posterior.rsample(torch.Size([20_000])).detach()
    mean, variance = posterior.mean.detach(), posterior.variance.detach()
    error = (variance / len(draws)).sqrt()
    assert bool(((draws.mean(0) - mean).abs() < STANDARD_ERRORS * error).all())
    fourth = (draws - mean).square().var(0)
    error = (fourth / len(draws)).sqrt()
    off = ((draws - mean).square().mean(0) - variance).abs()
    assert bool((off < STANDARD_ERRORS * error).all())
    levels = torch.tensor([0.1, 0.7], dtype=torch.float64)
    found = quantiles(posterior, levels).detach()
    if isinstance(posterior, TransformedMixturePosterior):
        draws = draws.transpose(0, 1).flatten(0, 1)
    shares = (draws < found.unsqueeze(1)).double().mean(1)
    slack = STANDARD_ERRORS * (0.25 / 20_000) ** 0.5
    assert bool(((shares - levels[:, None, None]).abs() < slack).all())


@pytest.mark.parametrize("text", TEXTS)
def test_conditioning_equals_a_model_of_all_the_data(text):
    X, Y = training_data(n=10)
    Y = Y + 4.0
    transform = outcome_transform(text, Y[:8].squeeze(-1), True)
    part = randomize(StructuredGP(X[:8], Y[:8], outcome_transform=transform))
    part.posterior(points(3))
    extended = part.condition_on_observations(X[8:], Y[8:])
    frozen = deepcopy(part.outcome_transform).eval()
    whole = StructuredGP(X, frozen(Y)[0], outcome_transform=None)
    whole.log_posterior().set(part.log_posterior().get())
    whole.outcome_transform = frozen
    whole.train().eval()
    for name in ("mean", "variance"):
        found, expected = (
            getattr(m.posterior(points(3)), name) for m in (extended, whole)
        )
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(extended.raw_targets, Y)


@pytest.mark.parametrize("text", TEXTS)
def test_copies_and_states(text):
    model = model_under(text)
    expected = model.posterior(points(3)).mean
    for copied in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        torch.testing.assert_close(copied.posterior(points(3)).mean, expected)
    other = model_under(text, starts=1)
    randomize(other, seed=5)
    other.load_state_dict(model.state_dict())
    torch.testing.assert_close(other.posterior(points(3)).mean, expected)


@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
@pytest.mark.parametrize("text", TEXTS)
def test_float32(text):
    X, Y = (t.float() for t in training_data())
    transform = outcome_transform(text, Y.squeeze(-1), True)
    model = randomize(StructuredGP(X, Y, outcome_transform=transform))
    posterior = model.posterior(points(3).float())
    assert posterior.mean.dtype == posterior.variance.dtype == torch.float32
    assert torch.equal(model.raw_targets, Y)


@pytest.mark.integration
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("build", [model_under, mixture_under])
def test_monte_carlo_acquisitions_run(text, build):
    model = build(text)
    sampler = SobolQMCNormalSampler(torch.Size([32]), seed=0)
    acquisition = qLogExpectedImprovement(model, best_f=6.0, sampler=sampler)
    box = torch.tensor([[0.0] * 3, [1.0] * 3], dtype=torch.float64)
    candidate, value = optimize_acqf(
        acquisition, box, q=2, num_restarts=2, raw_samples=8, options={"maxiter": 5}
    )
    assert candidate.shape == (2, 3)
    assert bool(torch.isfinite(value))
    default = qLogExpectedImprovement(model, best_f=6.0)
    assert bool(torch.isfinite(default(candidate)))


# -- mixtures ------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("lead", [(), (2,)])
def test_moments_of_a_mixture(text, lead):
    mixture = mixture_under(text)
    X = points(*lead, 4)
    parts = [m.posterior(X) for m in mixture.members]
    mean = sum(w * p.mean for w, p in zip(WEIGHTS, parts, strict=True))
    second = sum(
        w * (p.variance + p.mean.square()) for w, p in zip(WEIGHTS, parts, strict=True)
    )
    posterior = mixture.posterior(X)
    assert posterior.mean.shape == (*lead, *mixture.batch_shape, 4, 1)
    torch.testing.assert_close(posterior.mixture_mean, mean)
    torch.testing.assert_close(
        posterior.mixture_variance, second - mean.square(), rtol=1e-6, atol=0
    )
    drawn = posterior.rsample(torch.Size([5]))
    assert drawn.shape == (5, *posterior.mean.shape)


@pytest.mark.oracle
@pytest.mark.parametrize("text", TEXTS)
def test_new_outcomes_reweight_as_transformed_ones_do(text):
    mixture = mixture_under(text)
    X, Y = points(2, seed=7), torch.tensor([[6.0], [9.5]], dtype=torch.float64)
    density = []
    for member in mixture.members:
        z = deepcopy(member.outcome_transform).eval()(Y)[0].squeeze(-1)
        bare = deepcopy(member)
        del bare.outcome_transform
        law = bare.posterior(X, observation_noise=True).distribution
        covariance = law.covariance_matrix.detach().numpy()
        mean = law.mean.detach().numpy()
        density.append(stats.multivariate_normal(mean, covariance).logpdf(z.numpy()))
    joint = np.log(WEIGHTS) + density
    expected = np.exp(joint - joint.max())
    expected /= expected.sum()
    assert abs(expected - WEIGHTS).max() > 0.01
    found = mixture.condition_on_observations(X, Y).weights
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=PREDICTION)


@pytest.mark.parametrize("text", TEXTS)
def test_fantasies_are_raw_outcomes(text):
    mixture = mixture_under(text)
    X = points(2, 1, seed=9)
    sampler = IIDNormalSampler(torch.Size([3]), seed=5)
    fantasy = mixture.fantasize(X, sampler)
    drawn = sampler(mixture.posterior(X, observation_noise=True))
    mean = fantasy.posterior(X).mean
    assert mean.shape == (3, 2, len(mixture.slots), 1, 1)
    added = fantasy.members[0].raw_targets[..., -1:, :]
    torch.testing.assert_close(added, drawn.select(-3, 0))


def test_members_must_share_the_transform():
    log, power = model_under("log"), model_under("yeo-johnson(0.3)")
    for others in ([power], [model_under("yeo-johnson(0.4)"), power]):
        with pytest.raises(InputError, match="one outcome transform"):
            MixtureGP.from_members([log, *others], [1.0] * (1 + len(others)))
    with pytest.raises(InputError, match="one outcome transform"):
        MixtureGP.from_members([model_under("identity"), log], [0.5, 0.5])


def test_a_gaussian_part_is_found_or_missed():
    posterior = model_under("log").posterior(points(2))
    gaussian = gaussian_part(posterior)
    s = (math.e**gaussian.mean - posterior.mean) / posterior.mean
    assert bool((s < 0).all())  # the median of a log-normal is below its mean
    with pytest.raises(InputError, match="Gaussian or a transform of one"):
        gaussian_part(torch.distributions.Normal(0.0, 1.0))


def test_power_one_is_the_identity():
    models = [model_under(text) for text in ("identity", "yeo-johnson(1)")]
    z = [m.train_targets for m in models]
    torch.testing.assert_close(z[0], z[1], rtol=ROUNDING, atol=ROUNDING)
    first, second = (m.posterior(points(4)) for m in models)
    torch.testing.assert_close(first.mean, second.mean)
    torch.testing.assert_close(first.variance, second.variance, rtol=QUADRATURE, atol=0)
