from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from botorch.acquisition.analytic import LogExpectedImprovement, UpperConfidenceBound
from botorch.models.transforms import Normalize
from botorch.sampling.normal import SobolQMCNormalSampler
from scipy import stats
from torch import Tensor

from bokern.errors import ShapeError, StructureError
from bokern.models import MixtureGP
from bokern.models.slots import WEIGHT_TOLERANCE
from tests.models.data import points, randomize, training_data
from tests.tolerances import SUMS

STRUCTURES = ("Matern(0.5)", "RBF()", "Invariant(RBF(), swap(0, 1))")
WEIGHTS = (0.5, 0.3, 0.2)

PREDICTION = 1e-6
"""GPyTorch's posteriors add jitter to factorise, and cache a root."""


@pytest.fixture(params=[False, True], ids=["inferred", "known noise"])
def mixture(request) -> MixtureGP:
    X, Y = training_data()
    Yvar = torch.full_like(Y, 0.3) if request.param else None
    box = torch.tensor([[-1.0] * 3, [2.0] * 3], dtype=torch.float64)
    transform = Normalize(3, bounds=box)
    model = MixtureGP(
        X, Y, Yvar, input_transform=transform, structures=STRUCTURES, weights=WEIGHTS
    )
    return randomize(model, seed=3)


def noise_for(mixture: MixtureGP, Y: Tensor) -> dict[str, Tensor]:
    """What conditioning needs where the noise is known, in z-scored units."""
    known = "Fixed" in type(mixture.likelihood).__name__
    return {"noise": torch.full_like(Y, 0.07)} if known else {}


# -- slots ------------------------------------


def test_weights_are_normalised_and_kept(mixture):
    torch.testing.assert_close(mixture.weights, torch.tensor(WEIGHTS).double())
    assert (mixture.slot_weights - mixture.weights).abs().max() <= WEIGHT_TOLERANCE
    equal = MixtureGP(*training_data(), structures=STRUCTURES)
    torch.testing.assert_close(equal.weights, torch.full((3,), 1.0 / 3.0).double())
    assert list(map(str, equal.structures)) == list(STRUCTURES)


# -- what acquisitions see ------------------------------------


@pytest.mark.oracle
def test_moments_are_those_of_the_mixture(mixture):
    X = points(2, 4)
    share = mixture.slot_weights
    parts = [m.posterior(X) for m in mixture.members]
    mean = sum(w * p.mean for w, p in zip(share, parts, strict=True))
    second = sum(
        w * (p.variance + p.mean.square()) for w, p in zip(share, parts, strict=True)
    )
    posterior = mixture.posterior(X)
    torch.testing.assert_close(posterior.mixture_mean, mean)
    torch.testing.assert_close(posterior.mixture_variance, second - mean.square())


@pytest.mark.oracle
@pytest.mark.parametrize("maximize", [True, False])
def test_ucb_and_log_ei_are_means_over_slots(mixture, maximize):
    X = points(5, 1)
    share = mixture.slot_weights.unsqueeze(-1)

    def values(acquisition, **options) -> tuple[Tensor, Tensor]:
        each = [
            acquisition(m, maximize=maximize, **options)(X) for m in mixture.members
        ]
        return acquisition(mixture, maximize=maximize, **options)(X), torch.stack(each)

    whole, each = values(UpperConfidenceBound, beta=4.0)
    torch.testing.assert_close(whole, (share * each).sum(0))
    assert (each[0] - each[1]).abs().max() > 0.01
    whole, each = values(LogExpectedImprovement, best_f=3.0)
    torch.testing.assert_close(whole, (share * each.exp()).sum(0).log())


@pytest.mark.oracle
def test_fantasies_are_drawn_under_and_condition_their_own_member(mixture):
    X = points(2, 1, seed=9)
    sampler = SobolQMCNormalSampler(torch.Size([3]), seed=5)
    fantasy = mixture.fantasize(X, sampler)
    noise: bool | Tensor = True
    if noise_for(mixture, X):
        noise = mixture.likelihood.noise.mean().reshape(1, 1)
    drawn = sampler(mixture.posterior(X, observation_noise=noise))
    assert drawn.shape == (3, 2, len(mixture.slots), 1, 1)
    at = points(4, seed=10)
    mean = fantasy.posterior(at).mean
    assert mean.shape == (3, 2, len(mixture.slots), 4, 1)
    for number, slot in enumerate(mixture.slots.tolist()):
        Y = drawn[:, :, number]
        member = mixture.members[slot]
        extra = {}
        if noise is not True:
            extra["noise"] = noise.expand(Y.shape)
        expected = member.condition_on_observations(X.expand(3, 2, 1, 3), Y, **extra)
        torch.testing.assert_close(mean[:, :, number], expected.posterior(at).mean)


# -- conditioning ------------------------------------


def dense_log_density(member, X: Tensor, Y: Tensor, noise: Tensor | None) -> float:
    """Log predictive density of new raw outcomes, from one dense covariance."""
    transform = member.outcome_transform
    old = member.train_targets.detach().numpy()
    new = ((Y - transform.means) / transform.stdvs).squeeze(-1).numpy()
    box = member.input_transform
    member.train()
    both = torch.cat([member.train_inputs[0], X])
    member.eval()
    with torch.no_grad():
        unit = (both - box.offset) / box.coefficient
        K = member.covar_module(unit).to_dense().numpy()
        mean = member.mean_module(unit).numpy()
        s = member.likelihood.noise.expand(len(old)).numpy()
    added = np.full(len(new), s.mean()) if noise is None else noise.numpy().ravel()
    K = K + np.diag(np.concatenate([s, added]))
    n = len(old)
    gain = np.linalg.solve(K[:n, :n], K[:n, n:]).T
    centre = mean[n:] + gain @ (old - mean[:n])
    spread = K[n:, n:] - gain @ K[:n, n:]
    log_density = stats.multivariate_normal(centre, spread).logpdf(new)
    return float(log_density - len(new) * math.log(float(transform.stdvs)))


@pytest.mark.oracle
def test_observations_reweight_by_predictive_density(mixture):
    X = points(2, seed=7)
    Y = torch.tensor([[3.1], [4.6]], dtype=torch.float64)
    extra = noise_for(mixture, Y)
    density = [dense_log_density(m, X, Y, extra.get("noise")) for m in mixture.members]
    joint = np.log(WEIGHTS) + density
    expected = np.exp(joint - joint.max())
    expected /= expected.sum()
    assert abs(expected - WEIGHTS).max() > 0.05
    conditioned = mixture.condition_on_observations(X, Y, **extra)
    np.testing.assert_allclose(
        conditioned.weights.detach().numpy(), expected, rtol=PREDICTION
    )
    assert (conditioned.slot_weights - conditioned.weights).abs().max() <= (
        WEIGHT_TOLERANCE
    )


@pytest.mark.equivalence
def test_one_by_one_equals_together(mixture):
    X = points(2, seed=7)
    Y = X.sum(-1, keepdim=True) + 2.0
    together = mixture.condition_on_observations(X, Y, **noise_for(mixture, Y))
    each = mixture
    for x, y in zip(X.split(1), Y.split(1), strict=True):
        each.posterior(x)
        each = each.condition_on_observations(x, y, **noise_for(mixture, y))
    torch.testing.assert_close(each.weights, together.weights, rtol=SUMS, atol=SUMS)


@pytest.mark.equivalence
def test_a_batch_is_conditioned_element_by_element(mixture):
    X, at = points(3, 2, seed=7), points(4, seed=8)
    Y = 2.0 + 3.0 * X[..., :1]
    batch = mixture.condition_on_observations(X, Y, **noise_for(mixture, Y))
    assert batch.weights.shape == (3, 3)
    assert batch.posterior(at).mean.shape == (3, batch.slots.shape[-1], 4, 1)
    for i in range(3):
        extra = noise_for(mixture, Y[i])
        single = mixture.condition_on_observations(X[i], Y[i], **extra)
        torch.testing.assert_close(batch.weights[i], single.weights)
        for ours, theirs in zip(batch.members, single.members, strict=True):
            torch.testing.assert_close(
                ours.posterior(at).mean[i], theirs.posterior(at).mean
            )
    sampler = SobolQMCNormalSampler(torch.Size([2]), seed=0)
    with pytest.raises(ShapeError, match="conditioned in batch has no fantasies"):
        batch.fantasize(X, sampler)


def test_state_dict_carries_the_weights(mixture):
    X, Y = training_data()
    known = bool(noise_for(mixture, Y))
    other = MixtureGP(
        X,
        Y,
        torch.full_like(Y, 0.3) if known else None,
        input_transform=Normalize(3),
        structures=STRUCTURES,
    )
    other.load_state_dict(mixture.state_dict())
    assert torch.equal(other.weights, mixture.weights)
    assert torch.equal(other.slots, mixture.slots)


# -- refusals ------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"structures": ()}, StructureError, "at least one structure, got none"),
        ({"weights": (1.0,)}, ShapeError, r"expects 3 non-negative weights.*\(1.0,\)"),
        ({"weights": (0.0, 0.0, 0.0)}, ShapeError, "not all zero"),
        ({"weights": (1.0, -0.1, 0.1)}, ShapeError, "non-negative"),
        ({"weights": (1.0, math.nan, 0.1)}, ShapeError, "nan"),
        ({"weights": (1.0, math.inf, 0.1)}, ShapeError, "inf"),
        ({"covar_module": object()}, StructureError, "pass structures= only"),
        ({"structures": ("Matern(3)",)}, StructureError, "nu"),
    ],
)
def test_malformed_mixtures_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        MixtureGP(*training_data(), **({"structures": STRUCTURES} | options))


def test_no_members_are_refused():
    with pytest.raises(StructureError, match="at least one structure"):
        MixtureGP.from_members([], [])


def test_several_outcomes_and_batches_are_refused():
    for data in (training_data(m=2), training_data(2)):
        with pytest.raises(ShapeError, match="ModelListGP"):
            MixtureGP(*data)


def test_it_has_one_outcome(mixture):
    assert mixture.subset_output([0]) is mixture
    with pytest.raises(ShapeError, match=r"one outcome, number 0; got \[1\]"):
        mixture.subset_output([1])
