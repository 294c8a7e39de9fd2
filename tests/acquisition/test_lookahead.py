"""Thompson sampling, max-value entropy, integrated variance, knowledge gradient."""

from __future__ import annotations

import math

import pytest
import torch
from botorch.acquisition import qKnowledgeGradient
from botorch.acquisition.active_learning import qNegIntegratedPosteriorVariance
from botorch.optim import optimize_acqf
from botorch.sampling.normal import IIDNormalSampler, SobolQMCNormalSampler

from bokern import Study
from bokern.acquisition import (
    IntegratedVariance,
    KnowledgeGradient,
    MaxValueEntropy,
    ThompsonSample,
)
from bokern.errors import SpaceError
from bokern.models import MixtureGP, StructuredGP

BOX = torch.tensor([[0.0, 0.0], [10.0, 10.0]], dtype=torch.double)
ACQUISITIONS = ("kg", "mes", "thompson", "nipv", "gp-ucb", "qlognei")


@pytest.fixture
def grid():
    generator = torch.Generator().manual_seed(2)
    return 10.0 * torch.rand(40, 2, generator=generator, dtype=torch.double)


@pytest.fixture
def mixture(data):
    X, Y = data
    members = []
    for scale in (0.2, 0.6):
        one = StructuredGP(X / 10, (Y - 100) / 20, structure="Matern(2.5)")
        one.covar_module.base_kernel.raw_lengthscale.data.fill_(math.log(scale))
        members.append(one)
    return MixtureGP.from_members(members, [0.25, 0.75]).eval()


def make(kind, model, grid, **options):
    if kind is ThompsonSample:
        return kind(model, BOX, near=grid[:3], **options)
    return kind(model, grid, **options)


@pytest.mark.statistical
def test_drawn_functions_have_the_moments_of_the_posterior(model, points):
    draws = torch.stack(
        [ThompsonSample(model, BOX, seed=s)(points).detach() for s in range(400)]
    )
    posterior = model.posterior(points)
    mean, variance = posterior.mean.flatten(), posterior.variance.flatten()
    z = (draws.mean(0) - mean) / (variance / len(draws)).sqrt()
    assert z.abs().max() < 4.0
    ratio = draws.var(0) / variance
    assert (ratio - 1.0).abs().max() < 4.0 * math.sqrt(2.0 / len(draws))


def test_a_drawn_function_is_one_function(model, points):
    """At its own points it takes the values drawn, together and one by one."""
    sample = ThompsonSample(model, BOX, seed=3)
    at = sample.points[::40].unsqueeze(-2)
    together = sample(at)
    assert torch.allclose(together, torch.cat([sample(p[None]) for p in at]))
    mean, covariance = sample._moments(sample.points)
    drawn = mean + (covariance @ sample.weights).squeeze(-1)
    assert torch.allclose(together, drawn[::40], atol=1e-4)
    other = ThompsonSample(model, BOX, seed=4)(points)
    assert not torch.allclose(sample(points), other)


def test_it_is_drawn_closely_about_the_best_point_seen(model, data):
    X, Y = data
    sample = ThompsonSample(model, BOX, near=X)
    near = (sample.points - X[Y.argmax()]).abs().amax(-1) < 2.0
    assert near.sum() > 50
    assert (sample.points >= 0).all()
    assert (sample.points <= 10).all()


@pytest.mark.oracle
def test_max_value_entropy_is_a_difference_of_entropies(model, points, grid):
    """Entropy of a Gaussian less that of one cut at the largest value."""
    acquisition = MaxValueEntropy(model, grid, seed=1)
    posterior = model.posterior(points)
    mean = posterior.mean.flatten().detach()
    sigma = posterior.variance.flatten().sqrt().detach()
    found = acquisition(points).detach()
    for k in range(len(points)):
        total = 0.0
        for largest in acquisition.largest.flatten():
            x = torch.linspace(-9.0, 9.0, 40_001, dtype=torch.double)
            y = mean[k] + sigma[k] * x
            density = torch.distributions.Normal(mean[k], sigma[k]).log_prob(y).exp()
            density = torch.where(y <= largest, density, 0.0)
            density = density / torch.trapezoid(density, y)
            terms = torch.where(density > 0, -density * density.log(), 0.0)
            cut = torch.trapezoid(terms, y)
            full = 0.5 * math.log(2 * math.pi * math.e) + sigma[k].log()
            total += float(full - cut) / acquisition.largest.numel()
        assert found[k].item() == pytest.approx(total, rel=5e-3, abs=1e-4)


def test_max_value_entropy_far_from_the_largest_value_vanishes(model, grid):
    acquisition = MaxValueEntropy(model, grid)
    acquisition.largest += 1e6
    assert acquisition(grid.unsqueeze(-2)).abs().max() < 1e-12
    acquisition.largest -= 1e6 + 1e4
    value = acquisition(grid.unsqueeze(-2))
    assert value.isfinite().all()
    assert (value > 0).all()


@pytest.mark.equivalence
@pytest.mark.parametrize("pending", [0, 2])
def test_integrated_variance_is_what_botorch_gets_by_fantasies(
    model, points, grid, pending
):
    X_pending = grid[:pending] + 0.1 if pending else None
    theirs = qNegIntegratedPosteriorVariance(
        model, grid, IIDNormalSampler(torch.Size([1])), X_pending=X_pending
    )
    ours = IntegratedVariance(model, grid, X_pending=X_pending)
    difference = (ours(points) - theirs(points)).detach()
    assert torch.allclose(difference, difference[0].expand(5), rtol=1e-4)
    scale = ours(points).max() - ours(points).min()
    assert (difference - difference[0]).abs().max() < 1e-4 * scale


def test_a_pending_point_leaves_less_to_be_learned_there(model, points, grid):
    pending = points[0]
    for kind in (MaxValueEntropy, IntegratedVariance):
        free = make(kind, model, grid)(points)
        seen = make(kind, model, grid, X_pending=pending)(points)
        assert seen[0] < 0.5 * free[0]


@pytest.mark.parametrize("kind", [ThompsonSample, MaxValueEntropy, IntegratedVariance])
def test_batches_gradients_and_optimisation(model, points, grid, kind):
    acquisition = make(kind, model, grid)
    value = acquisition(points)
    assert value.shape == (5,)
    assert torch.allclose(acquisition(points[2:3]), value[2:3], rtol=1e-6)
    X = points.clone().requires_grad_()
    assert torch.autograd.gradcheck(acquisition, (X,), eps=1e-4, atol=1e-3, rtol=1e-3)
    torch.manual_seed(0)
    best, top = optimize_acqf(acquisition, BOX, 1, num_restarts=2, raw_samples=32)
    assert top >= value.max() - 1e-6
    assert best.shape == (1, 2)


@pytest.mark.parametrize(
    "kind", [ThompsonSample, MaxValueEntropy, IntegratedVariance, KnowledgeGradient]
)
def test_mixtures(mixture, points, grid, kind):
    box = BOX / 10
    options = {"near": grid[:3] / 10} if kind is ThompsonSample else {}
    args = (mixture, box) if kind is ThompsonSample else (mixture, grid / 10)
    acquisition = kind(*args, **options)
    value = acquisition(points / 10)
    assert value.shape == (5,)
    assert value.isfinite().all()


def test_a_mixture_draws_its_members_with_their_weights(mixture):
    scales = [
        ThompsonSample(mixture, BOX / 10, seed=s).model.theta().tolist()
        for s in range(60)
    ]
    first = mixture.members[0].theta().tolist()
    share = sum(scale == first for scale in scales) / 60
    assert abs(share - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 60)


@pytest.mark.integration
@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_in_a_study_with_trials_pending(acquisition):
    study = Study(
        None,
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
        acquisition=acquisition,
        structures="Matern(2.5)",
        initial=4,
    )
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, (trial.parameters["x"] - 0.3) ** 2 + trial.parameters["y"])
    pair = study.ask(2)
    assert list(study.trials["generator"][4:]) == ["Matern(2.5)"] * 3
    apart = [abs(pair[0].parameters[k] - pair[1].parameters[k]) for k in "xy"]
    assert max(apart) > 1e-3


@pytest.mark.integration
@pytest.mark.parametrize("acquisition", ["mes", "thompson", "nipv", "kg"])
def test_with_whole_numbers_and_mixtures(acquisition):
    study = Study(
        None,
        {"x": (0.0, 1.0), "n": (1, 3)},
        acquisition=acquisition,
        selection="mixture",
        structures=["Matern(2.5)", "RBF()"],
        initial=4,
    )
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, trial.parameters["x"] ** 2 + trial.parameters["n"])
    assert "sobol" not in set(study.trials["generator"][4:])


@pytest.mark.integration
@pytest.mark.parametrize("acquisition", ["gp-ucb", "kg", "mes", "thompson", "nipv"])
def test_several_objectives_are_refused_at_once(acquisition):
    with pytest.raises(SpaceError, match="one objective"):
        Study(
            None,
            {"x": (0.0, 1.0)},
            direction={"a": "minimize", "b": "minimize"},
            acquisition=acquisition,
        )


@pytest.mark.oracle
def test_the_knowledge_gradient_by_integration(model, grid):
    """Over the observation, on a fine grid; the candidate's own mean counts too."""
    acquisition = KnowledgeGradient(model, grid)
    X = grid[:4] + 0.3
    z = torch.linspace(-8.0, 8.0, 20_001, dtype=torch.double)
    density = torch.exp(-0.5 * z.square())
    density = density / density.sum()
    for x, value in zip(X, acquisition(X.unsqueeze(-2)), strict=True):
        among = torch.cat([grid, x.unsqueeze(0)])
        joint = model.posterior(among)
        K = joint.distribution.covariance_matrix
        noise = model.likelihood.noise * model.outcome_transform._stdvs_sq.squeeze()
        step = K[:, -1] / (K[-1, -1] + noise).sqrt()
        mean = joint.mean.squeeze(-1)
        best = (mean.unsqueeze(-1) + step.unsqueeze(-1) * z).amax(0)
        expected = (density * best).sum() - mean.max()
        assert value.item() == pytest.approx(expected.item(), rel=0.02, abs=1e-6)


@pytest.mark.equivalence
def test_the_knowledge_gradient_is_botorchs_at_its_inner_optima(model, grid):
    """BoTorch's, with every inner optimum at its best point of the grid."""
    acquisition = KnowledgeGradient(model, grid)
    with torch.no_grad():
        best = acquisition((grid + 0.3).unsqueeze(-2)).argmax()
    x = grid[best : best + 1] + 0.3
    among = torch.cat([grid, x])
    sampler = SobolQMCNormalSampler(torch.Size([512]), seed=0)
    with torch.no_grad():
        theirs = qKnowledgeGradient(
            model,
            num_fantasies=512,
            sampler=sampler,
            current_value=model.posterior(among).mean.max(),
        )
        fantasies = model.fantasize(x, sampler)
        best = fantasies.posterior(among).mean.squeeze(-1).argmax(-1)
        X = torch.cat([x, among[best]]).unsqueeze(0)
        assert acquisition(x.unsqueeze(0)).item() == pytest.approx(
            theirs(X).item(), rel=0.02
        )


def test_the_knowledge_gradient_is_never_negative(model, grid, points):
    acquisition = KnowledgeGradient(model, grid, X_pending=points[:2, 0])
    with torch.no_grad():
        assert acquisition(points).min() >= 0.0
        assert acquisition(points[:1]) < KnowledgeGradient(model, grid)(points[:1])
