"""LogEI with and without pending points."""

from __future__ import annotations

import pytest
import torch
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.acquisition.logei import qLogExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.optim import optimize_acqf
from botorch.sampling.normal import SobolQMCNormalSampler

from bokern.acquisition import LogEI

MINIMISE = ScalarizedPosteriorTransform(torch.tensor([-1.0], dtype=torch.double))


@pytest.mark.equivalence
def test_is_botorchs_closed_form_without_pending_points(model, ensemble, points):
    for each, X in ((model, points), (ensemble, points / 10)):
        best = each.posterior(X).mean.max().detach()
        theirs = LogExpectedImprovement(each, best_f=best)(X)
        assert torch.equal(LogEI(each, best_f=best)(X), theirs)


@pytest.mark.oracle
@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::linear_operator.utils.warnings.NumericalWarning")
def test_pending_points_by_plain_sampling(model, points):
    pending = points[:2, 0] + 0.3
    best_f = model.posterior(points).mean.max().item()
    acquisition = LogEI(model, best_f=best_f, X_pending=pending, seed=0)
    joint = torch.cat([points, pending.expand(5, 2, 2)], dim=-2)
    torch.manual_seed(0)
    with torch.no_grad():
        samples = model.posterior(joint).rsample(torch.Size([200_000])).squeeze(-1)
        already = samples[..., 1:].amax(-1).clamp_min(best_f)
        gain = (samples[..., 0] - already).clamp_min(0.0)
        error = gain.std(0) / len(gain) ** 0.5
        ours = acquisition(points).exp()
    # 256 quasi-random samples: two parts in a hundred of what all of them gain.
    joint = (samples.amax(-1) - best_f).clamp_min(0.0).mean(0)
    allowed = 3 * error + 0.02 * joint
    assert ((ours - gain.mean(0)).abs() < allowed).all()


@pytest.mark.equivalence
@pytest.mark.filterwarnings("ignore::linear_operator.utils.warnings.NumericalWarning")
def test_with_what_the_pending_points_gain_it_is_botorchs_joint_one(model, points):
    pending = points[:2, 0] + 0.3
    best_f = model.posterior(points).mean.mean().item()
    acquisition = LogEI(model, best_f=best_f, X_pending=pending, seed=0)
    sampler = SobolQMCNormalSampler(torch.Size([4096]), seed=1)
    joint = qLogExpectedImprovement(model, best_f=best_f, sampler=sampler)
    with torch.no_grad():
        alone = joint(pending.unsqueeze(0)).exp()
        ours = acquisition(points).exp()
        joint.set_X_pending(pending)
        assert ours + alone == pytest.approx(joint(points).exp(), rel=0.01)


def test_minimising_with_pending_points_spreads_out(model, data):
    bounds = torch.tensor([[0.0, 0.0], [10.0, 10.0]], dtype=torch.double)
    torch.manual_seed(0)
    acquisition = LogEI(model, (-data[1]).max(), MINIMISE, seed=0)
    batch, _ = optimize_acqf(
        acquisition, bounds, q=3, num_restarts=4, raw_samples=64, sequential=True
    )
    assert torch.pdist(batch).min() > 0.2
    assert acquisition.X_pending is None


def test_ensembles_with_pending_points(ensemble, points):
    points = points / 10
    acquisition = LogEI(ensemble, best_f=0.0, X_pending=points[:2, 0] + 0.05, seed=0)
    values = acquisition(points)
    assert values.shape == (5,)
    assert torch.isfinite(values).all()


def test_candidates_far_from_the_pending_points_gain_as_before(model, points):
    """However much is expected of the pending points themselves."""
    best_f = model.posterior(points).mean.min().item()
    pending = points[:1, 0]
    before = LogEI(model, best_f=best_f)(pending.unsqueeze(0))
    acquisition = LogEI(model, best_f=best_f, X_pending=pending, seed=0)
    assert acquisition(pending.unsqueeze(0)) < before - 5.0
