from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy import integrate, special, stats
from torch import Tensor

from bokern.errors import EvidenceError
from bokern.evidence import path as path_module
from bokern.evidence.moves import MoveSteps, Proposal
from bokern.evidence.path import Path, effective_size, next_beta, systematic
from bokern.evidence.smc import combined
from bokern.evidence.tempering import tempered

SPREAD = 4.0
"""Standard errors by which an estimate may miss: a false alarm in 1,000 or fewer with
20 replicates."""

COVERED = 0.85
"""Of 2.5 standard errors from 5 replicates: 93.3 % by Student's t with 4 degrees of
freedom, less 2.6 standard deviations of 60 trials."""


@dataclass
class Toy:
    """An objective in closed form: a prior N(mean, sd²) and any log likelihood."""

    mean: Tensor
    sd: Tensor
    likelihood: object
    entries: int = 16
    evaluated: int = 0

    @property
    def dim(self) -> int:
        return len(self.mean)

    def prior_moments(self):
        return self.mean, self.sd

    def log_prior(self, theta):
        return torch.distributions.Normal(self.mean, self.sd).log_prob(theta).sum(-1)

    def log_likelihood(self, theta):
        assert not torch.is_grad_enabled()
        self.evaluated += len(theta)
        return self.likelihood(theta)


def gaussian_toy(k: int, seed: int, sharp: float = 20.0) -> tuple[Toy, float]:
    """A correlated Gaussian likelihood off the prior's centre, and its log evidence."""
    rng = np.random.default_rng(seed)
    mean, sd = rng.normal(size=k), rng.uniform(0.5, 2.0, k)
    centre = mean + sd * rng.normal(size=k)
    A = rng.normal(size=(k, k)) / math.sqrt(k)
    precision = sharp * (A @ A.T) + 0.1 * np.eye(k)
    inverse = np.linalg.inv(precision)
    covariance = np.diag(sd**2) + 0.5 * (inverse + inverse.T)
    exact = stats.multivariate_normal(mean, covariance).logpdf(centre)
    exact += 0.5 * np.linalg.slogdet(2.0 * math.pi * inverse)[1]
    c, P = torch.tensor(centre), torch.tensor(precision)

    def likelihood(theta):
        return -0.5 * ((theta - c) @ P * (theta - c)).sum(-1)

    return Toy(torch.tensor(mean), torch.tensor(sd), likelihood), float(exact)


def assert_agrees(run, exact: float, most_error: float) -> None:
    value, error = combined(run.log_evidence)
    assert error < most_error
    assert abs(value - exact) < SPREAD * error


# -- the whole --------------------------------------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("k", "most_error"), [(1, 0.03), (2, 0.05), (5, 0.1), (12, 0.1), (30, 0.2)]
)
def test_gaussian_integrals(k, most_error):
    toy, exact = gaussian_toy(k, seed=k)
    run = tempered(toy, particles=256, replicates=20, seed=0)
    assert_agrees(run, exact, most_error)
    assert run.evaluations == toy.evaluated
    assert len(run.log_evidence) == len(run.temperatures) == 20
    assert len(run.moves) == max(run.temperatures) - 1
    assert len(run.theta) == k


@pytest.mark.oracle
def test_two_modes():
    """Far apart, of unequal mass: no move leads from one to the other."""
    mean, sd = torch.zeros(2).double(), torch.full((2,), 3.0).double()
    shares, width = torch.tensor([0.2, 0.8]).double(), 0.1
    centres = torch.tensor([[-3.0, 1.0], [3.0, -2.0]]).double()

    def likelihood(theta):
        square = (theta[:, None] - centres).square().sum(-1)
        return (shares.log() - 0.5 * square / width**2).logsumexp(-1)

    laws = [stats.norm(0, math.hypot(3.0, width)).pdf(c).prod() for c in centres]
    exact = math.log(2.0 * math.pi * width**2 * float(shares @ torch.tensor(laws)))
    run = tempered(Toy(mean, sd, likelihood), particles=256, replicates=20, seed=0)
    assert_agrees(run, exact, 0.1)


@pytest.mark.oracle
@pytest.mark.parametrize("failure", [-torch.inf, torch.nan])
def test_a_likelihood_that_fails_on_half_of_the_space(failure):
    centre, width = 0.3, 0.2

    def likelihood(theta):
        value = -0.5 * ((theta[:, 0] - centre) / width).square()
        return torch.where(theta[:, 0] > 0.2, value, failure)

    variance = 1.0 / (1.0 + width**-2)
    law = stats.norm(variance * centre / width**2, math.sqrt(variance))
    whole = stats.norm(0.0, math.hypot(1.0, width)).logpdf(centre)
    exact = whole + 0.5 * math.log(2 * math.pi * width**2) + law.logsf(0.2)
    toy = Toy(torch.zeros(3).double(), torch.ones(3).double(), likelihood)
    assert_agrees(tempered(toy, particles=128, replicates=20, seed=1), exact, 0.1)


def test_a_likelihood_that_fails_everywhere():
    toy = Toy(
        torch.zeros(2).double(),
        torch.ones(2).double(),
        lambda theta: torch.full_like(theta[:, 0], -torch.inf),
    )
    with pytest.raises(EvidenceError, match="none of 256 draws from the prior"):
        tempered(toy, particles=32, replicates=5, seed=0)


@pytest.mark.oracle
def test_a_flat_likelihood_needs_no_moves():
    toy = Toy(
        torch.zeros(2).double(),
        torch.ones(2).double(),
        lambda theta: torch.full_like(theta[:, 0], -3.0),
    )
    run = tempered(toy, particles=32, replicates=5, seed=0)
    assert run.log_evidence == pytest.approx([-3.0] * 5, abs=1e-12)
    assert run.moves == ()
    assert math.isnan(run.acceptance)


@dataclass
class LogisticToy(Toy):
    """A logistic prior on each coordinate, whose tails no Gaussian has."""

    def log_prior(self, theta):
        return -(theta + 2.0 * torch.nn.functional.softplus(-theta)).sum(-1)


@pytest.mark.oracle
@pytest.mark.parametrize("centre", [0.0, 6.0])
def test_a_prior_that_is_not_gaussian(centre):
    """Its moments are matched only at the centre, where its variance seems 2."""

    def likelihood(theta):
        return -0.5 * (theta[:, 0] - centre).square()

    toy = LogisticToy(
        torch.zeros(2).double(), torch.full((2,), math.sqrt(2)).double(), likelihood
    )
    value, _ = integrate.quad(
        lambda t: stats.logistic.pdf(t) * math.exp(-0.5 * (t - centre) ** 2), -30, 30
    )
    run = tempered(toy, particles=256, replicates=20, seed=2)
    assert_agrees(run, math.log(value), 0.1)
    assert Path(toy).sd.tolist() == pytest.approx([2.0 * math.sqrt(2.0)] * 2)


@pytest.mark.statistical
@pytest.mark.parametrize("k", [2, 6])
def test_intervals_cover(k):
    covered = 0
    for seed in range(60):
        toy, exact = gaussian_toy(k, seed=100 + seed)
        run = tempered(toy, particles=32, replicates=5, seed=seed)
        value, error = combined(run.log_evidence)
        covered += abs(value - exact) <= 2.5 * error
    assert covered >= COVERED * 60


# -- reproducible -------------------------------------------------------------------


def test_a_seed_is_a_run():
    toy, _ = gaussian_toy(3, seed=0)
    state = torch.get_rng_state()
    runs = [tempered(toy, particles=32, replicates=5, seed=s) for s in (7, 7, 8)]
    assert runs[0] == runs[1]
    assert runs[0].log_evidence != runs[2].log_evidence
    assert len(set(runs[0].log_evidence)) == 5
    assert torch.equal(torch.get_rng_state(), state)


def test_chunks_change_nothing(monkeypatch):
    toy, _ = gaussian_toy(3, seed=0)
    whole = tempered(toy, particles=32, replicates=5, seed=0)
    monkeypatch.setattr(path_module, "EVALUATED_ENTRIES", 7 * toy.entries)
    parts = tempered(toy, particles=32, replicates=5, seed=0)
    assert parts.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)


def test_the_best_state_is_remembered():
    toy, _ = gaussian_toy(2, seed=3)
    run = tempered(toy, particles=128, replicates=5, seed=0)
    best = torch.tensor(run.theta, dtype=torch.float64)
    with torch.no_grad():
        value = toy.log_likelihood(best[None]) + toy.log_prior(best)
        source = torch.Generator().manual_seed(0)
        noise = torch.randn(512, 2, dtype=torch.float64, generator=source)
        draws = toy.mean + toy.sd * noise
        others = toy.log_likelihood(draws) + toy.log_prior(draws)
    assert run.objective == pytest.approx(value.item(), abs=1e-10)
    assert run.objective > others.max()


# -- the path -----------------------------------------------------------------------


def test_energy_is_of_likelihood_and_prior_over_the_start():
    toy, _ = gaussian_toy(3, seed=1)
    path = Path(toy)
    theta = torch.randn(2, 4, 3, dtype=torch.float64)
    law = stats.norm(toy.mean.numpy(), toy.sd.numpy())
    expected = law.logpdf(theta.numpy()).sum(-1)
    assert path.log_start(theta).numpy() == pytest.approx(expected)
    with torch.no_grad():
        energy = path.energy(theta)
    assert energy.shape == (2, 4)
    assert energy.numpy() == pytest.approx(toy.likelihood(theta).numpy(), abs=1e-12)
    assert path.evaluations == 8


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5, 1e12])
def test_a_step_leaves_half_of_the_states_effective(scale):
    energy = scale * torch.randn(3, 500, dtype=torch.float64).square().neg()
    beta = torch.tensor([0.0, 0.2, 0.9]).double()
    after = next_beta(beta, energy)
    assert ((after > beta) & (after <= 1.0)).all()
    for before, new, row in zip(beta, after, energy, strict=True):
        weights = np.exp((new - before).item() * (row - row.max()).numpy())
        size = weights.sum() ** 2 / (weights**2).sum()
        if new == 1.0:
            assert size >= 250 - 1e-6
        else:
            assert size == pytest.approx(250, rel=1e-3)


def test_failed_states_are_not_counted():
    energy = torch.tensor([[0.0, -1.0, -torch.inf, -torch.inf]]).double()
    step = torch.tensor([0.5]).double()
    weights = np.exp([0.0, -0.5])
    expected = weights.sum() ** 2 / (weights**2).sum()
    assert effective_size(step, energy).item() == pytest.approx(expected)
    assert effective_size(0.0 * step, energy).item() == pytest.approx(2.0)
    assert next_beta(torch.zeros(1).double(), energy).item() == 1.0


def test_systematic_resampling_is_as_even_as_can_be():
    weights = torch.rand(3, 40, dtype=torch.float64)
    weights[:, 5] = 0.0
    weights = weights / weights.sum(-1, keepdim=True)
    counts = []
    for u in np.linspace(0.0, 1.0, 401)[:-1]:
        uniform = torch.full((3, 1), u, dtype=torch.float64)
        picked = systematic(weights, 100, uniform)
        counts.append(torch.stack([row.bincount(minlength=40) for row in picked]))
    counts = torch.stack(counts).double()
    floor = (100 * weights - 1e-9).floor().clamp_min(0.0)
    assert (counts >= floor).all()
    assert (counts <= floor + 1.0).all()
    assert counts[..., 5].sum() == 0.0
    assert counts.mean(0).numpy() == pytest.approx(100 * weights.numpy(), abs=0.01)


def test_replicates_combine_as_means_of_z():
    values = [-700.0, -701.0, -699.5, -700.2, -700.1]
    z = np.exp(np.array(values) + 700.0)
    value, error = combined(values)
    assert value == pytest.approx(math.log(z.mean()) - 700.0)
    assert value == pytest.approx(special.logsumexp(values) - math.log(5))
    assert error == pytest.approx(stats.sem(z) / z.mean())


# -- moves --------------------------------------------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("number", [0, 1])
def test_proposal_ratios(number):
    """Against the densities of going there and back."""
    steps = MoveSteps(2, 3, torch.zeros(1).double())
    active = torch.arange(2)
    steps.adapt(active, torch.tensor([0.9, 0.1]).double(), number)
    here = torch.randn(2, 5, 3, dtype=torch.float64)
    noise = torch.randn(2, 5, 3, dtype=torch.float64)
    there, ratio = steps.propose(active, here, noise, number)
    shift, _ = steps.propose(active, here, torch.zeros_like(noise), number)
    scale = ((there - shift) / noise).mean((1, 2)).numpy()[:, None, None]
    keep = (shift / here).mean((1, 2)).numpy()[:, None, None]
    a, b = here.numpy(), there.numpy()
    back = stats.norm(keep * b, scale).logpdf(a).sum(-1)
    forth = stats.norm(keep * a, scale).logpdf(b).sum(-1)
    assert ratio.numpy() == pytest.approx(back - forth, abs=1e-9)
    assert keep[0] != keep[1] or number == 0


def test_steps_follow_acceptance():
    steps = MoveSteps(2, 4, torch.zeros(1).double())
    white, noise = torch.zeros(2, 1, 4).double(), torch.ones(2, 1, 4).double()
    active = torch.arange(2)
    first, _ = steps.propose(active, white, noise, 0)
    assert first.flatten().tolist() == pytest.approx([2.38 / 2.0] * 8)
    for number in (0, 1):
        before, _ = steps.propose(active, white, noise, number)
        steps.adapt(active, torch.tensor([1.0, 0.0]).double(), number)
        after, _ = steps.propose(active, white, noise, number)
        assert (after[0] > before[0]).all()
        assert (after[1] < before[1]).all()
    assert steps.rates == [0.5, 0.5]


def test_a_frame_is_of_the_other_replicates():
    generator = np.random.default_rng(0)
    theta = generator.normal(size=(4, 60, 3)) @ generator.normal(size=(3, 3)) + 5.0
    proposal = Proposal(torch.zeros(3).double(), 4)
    proposal.fit(
        torch.arange(4), torch.tensor(theta), torch.full((4, 60), 1 / 60).double()
    )
    frame = proposal.frame(torch.tensor([2, 0]))
    for row, out in ((0, 2), (1, 0)):
        others = np.delete(theta, out, axis=0).reshape(-1, 3)
        covariance = (frame.factor[row] @ frame.factor[row].T).numpy()
        assert covariance == pytest.approx(np.cov(others.T, bias=True))
        assert frame.mean[row, 0].numpy() == pytest.approx(others.mean(0))
    some = torch.tensor(theta)[[2, 0]]
    assert torch.allclose(frame.colour(frame.whiten(some)), some)
