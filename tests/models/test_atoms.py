"""A mixture over hyperparameters, against models that hold them one by one."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.models.transforms.input import InputStandardize
from botorch.sampling.normal import SobolQMCNormalSampler

import bokern
from bokern.errors import FitWarning, ShapeError
from bokern.fitting import Curvature
from bokern.models import MixtureGP, StructuredGP, integrated
from bokern.models.atoms import Atoms, at_each
from bokern.models.outcome_steps import gaussian_part
from bokern.models.slots import MAX_SLOTS

DRAWS = 5
BOX = [(-1.0, 2.0)] * 2


def data(n=9):
    source = torch.Generator().manual_seed(0)
    X = 3.0 * torch.rand(n, 2, dtype=torch.float64, generator=source) - 1.0
    noise = torch.randn(n, dtype=torch.float64, generator=source)
    return X, 4.0 + torch.sin(2 * X).sum(-1) + 0.05 * noise


def fitted(structure="Matern(2.5)", **options) -> StructuredGP:
    return bokern.fit(structure, *data(), bounds=BOX, starts=2, **options)


def with_theta(model: StructuredGP, theta) -> StructuredGP:
    other = deepcopy(model)
    other.log_posterior().set(theta)
    return other.train().eval()


def places(*lead):
    source = torch.Generator().manual_seed(1)
    return 3.0 * torch.rand(*lead, 2, dtype=torch.float64, generator=source) - 1.0


def thetas_of(model, size=DRAWS):
    steps = torch.linspace(-0.5, 0.5, size, dtype=torch.float64).unsqueeze(-1)
    return model.theta() + steps


KINDS = {
    "plain": {},
    "known noise": {"noise": 0.01},
    "zero mean": {"mean": "zero"},
    "log": {"outcome": "log"},
    "power": {"outcome": "yeo-johnson(0.3)"},
}


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "structure",
    ["Matern(2.5)", "ConditionalDeep()", "Invariant(RBF(), permutations(2))"],
)
def test_each_of_the_batch_is_the_model_at_its_hyperparameters(structure, kind):
    model = fitted(structure, **KINDS[kind])
    thetas = thetas_of(model)
    batch = at_each(model, thetas)
    assert batch.batch_shape == torch.Size([DRAWS])
    X = places(3, 4)
    for noisy in (False, True):
        law = gaussian_part(batch.posterior(X.unsqueeze(-3), observation_noise=noisy))
        for j, theta in enumerate(thetas):
            own = with_theta(model, theta).posterior(X, observation_noise=noisy)
            own = gaussian_part(own)
            torch.testing.assert_close(law.mean[:, j], own.mean)
            torch.testing.assert_close(
                law.distribution.covariance_matrix[:, j],
                own.distribution.covariance_matrix,
            )
    assert not model.training


@pytest.mark.oracle
def test_predictions_are_averaged_over_draws_of_the_posterior():
    model = fitted()
    mixture = integrated(model, draws=DRAWS)
    assert mixture.batch_shape == torch.Size([DRAWS])
    (atoms,) = mixture._atoms
    X = places(6, 1)
    each = [with_theta(model, theta).posterior(X) for theta in atoms.thetas]
    mean = torch.stack([p.mean for p in each])
    variance = torch.stack([p.variance for p in each])
    found = mixture.posterior(X)
    torch.testing.assert_close(found.mixture_mean, mean.mean(0))
    torch.testing.assert_close(
        found.mixture_variance, variance.mean(0) + mean.var(0, correction=0)
    )
    around = Curvature.at(model.log_posterior(), model.theta())
    scaled = (atoms.thetas - model.theta()) @ around.root @ around.vectors
    scaled = scaled * around.eigenvalues.clamp_min(1.0).sqrt()
    assert (scaled.abs() < 4.0).all()
    assert scaled.std() > 0.5


@pytest.mark.parametrize("draws", [2, 16, MAX_SLOTS])
def test_each_draw_has_a_slot(draws):
    mixture = integrated(fitted(), draws)
    assert mixture.slots.tolist() == list(range(draws))


@pytest.mark.parametrize("draws", [8, 16, MAX_SLOTS])
@pytest.mark.parametrize(
    "weights", [(0.5, 0.5), (0.5, 0.3, 0.2), (0.9, 0.05, 0.05), (0.7, 0.28, 0.02)]
)
def test_members_share_the_draws_by_their_weights(weights, draws):
    members = [fitted(s) for s in ("Matern(2.5)", "RBF()", "Matern(0.5)")]
    mixture = MixtureGP.from_members(members[: len(weights)], weights, draws)
    assert mixture.slots.shape == torch.Size([draws])
    assert (mixture.slot_weights - mixture.weights).abs().max() <= 1 / draws
    torch.testing.assert_close(
        mixture._by_member(mixture.atom_weights), mixture.weights
    )


def test_atoms_are_numbered_as_in_the_slots():
    members = [fitted("Matern(2.5)"), fitted("RBF()"), fitted("Matern(0.5)")]
    mixture = MixtureGP.from_members(members, [0.7, 0.24, 0.06], draws=16)
    assert [a.size for a in mixture._atoms] == [11, 4, 1]
    assert mixture.slots.tolist() == list(range(16))
    assert mixture.atom(15) is members[2]
    torch.testing.assert_close(mixture.atom(12).theta(), mixture._atoms[1].thetas[1])
    with pytest.raises(IndexError):
        mixture.atom(16)


def test_reweighted_draws_keep_their_share():
    mixture = integrated(fitted(), 16)
    after = mixture.condition_on_observations(
        places(2), torch.tensor([[4.5], [3.0]], dtype=torch.float64)
    )
    counts = torch.bincount(after.slots, minlength=16) / len(after.slots)
    assert (counts - after.atom_weights).abs().max() <= 1 / 32


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["plain", "known noise"])
def test_observations_reweight_the_draws(kind):
    model = fitted(**KINDS[kind])
    mixture = integrated(model, draws=DRAWS)
    (atoms,) = mixture._atoms
    X, Y = places(2), torch.tensor([[4.5], [3.0]], dtype=torch.float64)
    given = {}
    if kind == "known noise":
        sd = model.outcome_transform.stdvs.item()
        given = {"noise": torch.full_like(Y, 0.01 / sd**2)}
    after = mixture.condition_on_observations(X, Y, **given)
    density, means, variances = [], [], []
    Z = places(7, 1)
    for theta in atoms.thetas:
        own = with_theta(model, theta)
        noise = given.get("noise", True)
        law = own.posterior(X, observation_noise=noise).distribution
        density.append(law.log_prob(Y.squeeze(-1)))
        own = own.condition_on_observations(X, Y, **given)
        posterior = own.posterior(Z)
        means.append(posterior.mean)
        variances.append(posterior.variance)
    weights = torch.softmax(torch.stack(density), 0)
    torch.testing.assert_close(after.atom_weights, weights, rtol=1e-5, atol=1e-7)
    slots = after.slots
    found = after.posterior(Z)
    torch.testing.assert_close(
        found.mean, torch.stack(means, 1)[:, slots], rtol=1e-6, atol=1e-6
    )
    torch.testing.assert_close(
        found.variance, torch.stack(variances, 1)[:, slots], rtol=1e-5, atol=1e-6
    )


def test_a_batch_of_observations_is_conditioned_element_by_element():
    mixture = integrated(fitted(), draws=DRAWS)
    X = places(3, 2)
    Y = torch.tensor([[4.0, 5.0], [3.0, 4.0], [5.0, 3.5]]).double().unsqueeze(-1)
    whole = mixture.condition_on_observations(X, Y)
    Z = places(3, 4)
    for i in range(3):
        alone = mixture.condition_on_observations(X[i], Y[i])
        torch.testing.assert_close(
            whole.atom_weights[i], alone.atom_weights, rtol=1e-6, atol=1e-8
        )
        (batch,), (single,) = whole._atoms, alone._atoms
        torch.testing.assert_close(
            batch.law(Z, False).mean[i],
            single.law(Z[i], False).mean,
            rtol=1e-6,
            atol=1e-6,
        )


def test_fantasies_condition_the_draw_that_they_came_from():
    model = fitted()
    mixture = integrated(model, draws=DRAWS)
    sampler = SobolQMCNormalSampler(torch.Size([3]), seed=0)
    X = places(2)
    fantasies = mixture.fantasize(X, sampler)
    found = fantasies.posterior(X)
    assert found.mean.shape == torch.Size([3, DRAWS, 2, 1])
    drawn = sampler(mixture.posterior(X, observation_noise=True))
    # Where the noise is small, a fantasy passes near what was drawn.
    assert (found.mean - drawn).abs().max() < (drawn.std() * 0.5)


def test_acquisitions_are_means_over_draws_and_have_gradients():
    model = fitted()
    mixture = integrated(model, draws=DRAWS)
    X = places(4, 1).requires_grad_()
    value = LogExpectedImprovement(mixture, best_f=3.0, maximize=False)(X)
    (gradient,) = torch.autograd.grad(value.sum(), X)
    (atoms,) = mixture._atoms
    own = [
        LogExpectedImprovement(with_theta(model, t), best_f=3.0, maximize=False)(X)
        for t in atoms.thetas
    ]
    expected = torch.stack(own).logsumexp(0) - torch.tensor(DRAWS).log()
    torch.testing.assert_close(value, expected.to(value), rtol=1e-5, atol=1e-5)
    assert gradient.abs().min() > 0


def test_new_data_keep_the_hyperparameters():
    model = fitted()
    mixture = integrated(model, draws=DRAWS)
    (atoms,) = mixture._atoms
    thetas = atoms.thetas
    X, y = data(6)
    z, _ = model.outcome_transform(y.unsqueeze(-1))
    mixture.set_train_data(X, z.squeeze(-1), strict=False)
    assert torch.equal(mixture._atoms[0].thetas, thetas)
    posterior = mixture.posterior(X)
    own = with_theta(mixture.members[0], thetas[2]).posterior(X)
    torch.testing.assert_close(posterior.mean[2], own.mean)


def test_a_state_dict_brings_the_same_draws():
    members = [fitted("Matern(2.5)", seed=3), fitted("RBF()")]
    mixture = MixtureGP.from_members(members, [0.6, 0.4], draws=8)
    others = [fitted("Matern(2.5)"), fitted("RBF()")]
    for model in others:
        model.log_posterior().set(0.5 * model.theta())
    other = MixtureGP.from_members(others, [0.5, 0.5], draws=8)
    assert [m.seed for m in members] == [3, 0]  # of no account
    other.load_state_dict(mixture.state_dict())
    X = places(4)
    torch.testing.assert_close(
        other.posterior(X).mixture_mean, mixture.posterior(X).mixture_mean
    )


def test_hyperparameters_without_a_curvature_stay_as_fitted(monkeypatch):
    model = fitted()

    def flat(objective, theta):
        raise bokern.errors.EvidenceError("not finite")

    monkeypatch.setattr(Curvature, "at", flat)
    with pytest.warns(FitWarning, match="do not include what is unknown"):
        atoms = Atoms.drawn(model, 8)
    assert atoms.size == 1
    torch.testing.assert_close(
        atoms.law(places(3, 1), False).mean.squeeze(-2),
        model.posterior(places(3, 1)).mean.squeeze(-1),
    )


@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
def test_float32_stays_float32():
    X, y = data()
    model = StructuredGP(X.float(), y.float().unsqueeze(-1)).fit()
    posterior = integrated(model, draws=4).posterior(places(3, 1).float())
    assert posterior.mean.dtype == torch.float32


def test_draws_move_with_the_mixture():
    mixture = integrated(fitted(), draws=4)
    expected = mixture.posterior(places(3, 1)).mean
    moved = deepcopy(mixture).float()
    found = moved.posterior(places(3, 1).float()).mean
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected.float(), rtol=1e-3, atol=1e-3)


def test_fixed_hyperparameters_stay_fixed():
    X, y = data()
    model = StructuredGP(X, y.unsqueeze(-1), structure="Matern(2.5)")
    (name,) = [n for n, _ in model.named_parameters() if "raw_lengthscale" in n]
    fixed = model.get_parameter(name)
    fixed.data = torch.full_like(fixed, -0.7)
    fixed.requires_grad_(False)
    model.fit()
    mixture = integrated(model, draws=4)
    batch = mixture._atoms[0].batch
    assert (batch.get_parameter(name) == -0.7).all()
    own = mixture.atom(2).posterior(places(3, 1)).mean
    torch.testing.assert_close(mixture.posterior(places(3, 1)).mean[:, 2], own)


def test_learned_input_transforms_are_kept():
    X, y = data()
    learned = InputStandardize(d=2)
    model = StructuredGP(X, y.unsqueeze(-1), input_transform=learned).fit()
    mixture = integrated(model, draws=3)
    own = mixture.atom(1).posterior(places(3, 1)).mean
    torch.testing.assert_close(mixture.posterior(places(3, 1)).mean[:, 1], own)


def test_candidates_may_be_conditioned_on_and_fantasised_from():
    mixture = integrated(fitted(), draws=3)
    X = places(1).requires_grad_()
    after = mixture.condition_on_observations(X, torch.tensor([[4.0]]).double())
    sampler = SobolQMCNormalSampler(torch.Size([2]), seed=0)
    found = after.fantasize(places(1), sampler).posterior(places(2))
    assert found.mean.isfinite().all()


@pytest.mark.oracle
def test_a_filter_has_draws_as_a_dense_model_does():
    X, y = data(12)
    kwargs = {"bounds": BOX[:1], "starts": 2}
    one = bokern.fit("Matern(1.5)", X[:, :1], y, inference="kalman", **kwargs)
    other = bokern.fit("Matern(1.5)", X[:, :1], y, inference="exact", **kwargs)
    at = places(4, 1)[..., :1]
    torch.testing.assert_close(
        integrated(one, 6).posterior(at).mean,
        integrated(other, 6).posterior(at).mean,
        rtol=1e-3,
        atol=1e-3,
    )


def test_a_filter_of_a_long_series_keeps_what_was_fitted(monkeypatch):
    monkeypatch.setattr("bokern.models.atoms.DENSE_ROWS", 10)
    X, y = data(12)
    model = bokern.fit("Matern(1.5)", X[:, :1], y, inference="kalman", starts=1)
    with pytest.warns(FitWarning, match="formed up to 10 rows, and there are 12"):
        assert integrated(model, 4).slots.tolist() == [0, 0, 0, 0]


def test_maximum_likelihood_has_no_draws():
    model = fitted(objective="ml")
    with pytest.warns(FitWarning, match="fitted without priors"):
        assert integrated(model, 4).slots.tolist() == [0, 0, 0, 0]


def test_batches_and_several_outcomes_have_no_draws():
    X, y = data()
    Y = torch.stack([y, -y], -1)
    with pytest.raises(ShapeError, match="got 2 outcomes"):
        integrated(StructuredGP(X, Y), 4)
    batch = StructuredGP(X.expand(3, 9, 2), y.unsqueeze(-1).expand(3, 9, 1))
    with pytest.raises(ShapeError, match="a batch of"):
        integrated(batch, 4)
    with pytest.raises(ShapeError, match="non-negative weights"):
        MixtureGP.from_members([fitted()], torch.ones(3, 1), draws=4)


def test_few_data_spread_predictions_more_than_the_fit_does():
    """Over data sets, what is held out lies less often far outside."""
    excess = {"fit": 0.0, "draws": 0.0}
    for seed in range(8):
        source = torch.Generator().manual_seed(seed)
        X = torch.rand(7, 2, dtype=torch.float64, generator=source)
        Z = torch.rand(200, 2, dtype=torch.float64, generator=source)
        model = bokern.fit("Matern(2.5)", X, wave(X), bounds=[(0.0, 1.0)] * 2)
        for name, one in (("fit", model), ("draws", integrated(model))):
            posterior = one.posterior(Z.unsqueeze(-2))
            mean = getattr(posterior, "mixture_mean", None)
            mean = posterior.mean if mean is None else mean
            variance = getattr(posterior, "mixture_variance", None)
            variance = posterior.variance if variance is None else variance
            z = (wave(Z) - mean.flatten()).square() / variance.flatten()
            excess[name] += z.mean().item() / 8
    assert excess["draws"] < 0.5 * excess["fit"]


def wave(X):
    return torch.sin(9.0 * X[:, 0]) * torch.cos(4.0 * X[:, 1])
