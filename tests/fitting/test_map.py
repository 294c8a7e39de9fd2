from __future__ import annotations

import math

import pytest
import torch

from bokern.errors import FitError
from bokern.fitting import LogPosterior, draw_starts, fit_map, screen_starts
from bokern.fitting.hints import advised_starts, likely_values
from bokern.fitting.map import GRADIENT_TOLERANCE, SAME_OPTIMUM
from bokern.fitting.starts import (
    DRAWS,
    LOG_HIGH,
    LOG_LOW,
    SCREEN_ROWS,
    SCREEN_WORK,
    on_some_rows,
)
from bokern.models import StructuredGP


class _TwoPeaks(LogPosterior):
    """A log density with a low peak at 0 and a high, narrower one at (−3, 2)."""

    def __init__(self, objective: LogPosterior) -> None:
        self.__dict__.update(objective.__dict__)
        self.low = self.z.new_zeros(self.dim)
        self.high = self.z.new_tensor([-3.0, 2.0])

    def __call__(self, theta):
        wide = -0.5 * (theta - self.low).square().sum(-1)
        narrow = 4.0 - 4.0 * (theta - self.high).square().sum(-1)
        return torch.logaddexp(wide, narrow)

    def value_and_gradient(self, theta):
        theta = theta.detach().requires_grad_(True)
        with torch.enable_grad():
            value = self(theta)
            (gradient,) = torch.autograd.grad(value.sum(), theta)
        return value.detach(), gradient


@pytest.fixture
def two_peaks(unit_model) -> _TwoPeaks:
    from gpytorch.means import ZeroMean

    model = unit_model("RBF()", d=1, mean_module=ZeroMean(), noise=0.1)
    return _TwoPeaks(model.log_posterior())


@pytest.mark.oracle
def test_the_global_optimum_is_found(two_peaks):
    result = fit_map(two_peaks, starts=8, seed=1)
    wide = math.exp(-0.5 * 13.0)
    assert result.objective == pytest.approx(math.log(math.exp(4.0) + wide), abs=1e-4)
    torch.testing.assert_close(
        torch.tensor(result.theta), torch.tensor([-3.0, 2.0]), rtol=0.0, atol=1e-3
    )
    assert 1 <= result.restart_hits < result.restarts == 8
    assert result.gradient_norm < GRADIENT_TOLERANCE


def test_a_warm_start_is_used_beside_the_screened(two_peaks):
    local = fit_map(two_peaks, starts=0, warm=two_peaks.low)
    assert local.objective < 1.0
    both = fit_map(
        two_peaks, starts=0, warm=torch.stack([two_peaks.low, two_peaks.high])
    )
    assert both.objective == pytest.approx(4.0, abs=1e-2)
    assert both.restarts == 2
    assert both.restart_hits == 1


@pytest.mark.parametrize(
    "structure",
    ["RBF()", "Kumaraswamy(Matern(2.5))", "Linear() + Periodic() * RBF()", "DeepSE()"],
)
@pytest.mark.parametrize("use_prior", [True, False])
def test_ends_at_an_optimum_and_writes_it(unit_model, structure, use_prior):
    model = unit_model(structure, n=20, d=1)
    objective = model.log_posterior(use_prior)
    result = fit_map(objective, starts=4, seed=0)
    theta = objective.z.new_tensor(result.theta)
    torch.testing.assert_close(objective.get(), theta, rtol=0.0, atol=0.0)
    value, gradient = objective.value_and_gradient(theta)
    assert value.item() == pytest.approx(result.objective, rel=1e-12)
    assert objective.log_likelihood(theta).item() == pytest.approx(
        result.log_likelihood, rel=1e-9
    )
    if not result.at_bound:
        assert gradient.norm() < GRADIENT_TOLERANCE
    if use_prior:
        assert not result.at_bound
        assert torch.linalg.eigvalsh(objective.hessian(theta)).max() < 0.0
    assert result.objective_name == ("map" if use_prior else "ml")
    assert result.evaluations > DRAWS


def test_more_starts_and_warm_starts_never_end_lower(unit_model):
    objective = unit_model("Periodic() + RBF()", n=25, d=1).log_posterior()
    few = fit_map(objective, starts=1, seed=3)
    many = fit_map(objective, starts=6, seed=3)
    assert many.objective >= few.objective - SAME_OPTIMUM
    warm = objective.z.new_tensor(many.theta)
    again = fit_map(objective, starts=1, seed=3, warm=warm)
    assert again.objective == pytest.approx(many.objective, abs=1e-8)
    assert again.restarts == 2


def test_seeds_reproduce(unit_model):
    def theta(seed: int, structure: str = "RationalQuadratic()") -> tuple[float, ...]:
        return fit_map(unit_model(structure).log_posterior(), starts=2, seed=seed).theta

    assert theta(0) == theta(0)
    torch.manual_seed(1)
    assert theta(0) == theta(0)
    objective = unit_model("RationalQuadratic()").log_posterior()
    draws = [
        draw_starts(objective, torch.Generator().manual_seed(s)) for s in (0, 0, 1)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_costly_kernels_are_screened_on_fewer_rows(unit_model):
    """Rows squared times views stay below the limit."""
    generator = torch.Generator().manual_seed(0)
    rows = {}
    for dim, order in ((1, 1), (3, 6), (4, 24)):
        text = f"Invariant(Matern(2.5), permutations({dim}))" if dim > 1 else "RBF()"
        objective = unit_model(text, n=310, d=dim).log_posterior()
        rows[order] = on_some_rows(objective, generator).num_data
    assert rows[1] == SCREEN_ROWS
    for order in (6, 24):
        assert rows[order] ** 2 * order <= SCREEN_WORK < (rows[order] + 1) ** 2 * order


def test_draws_cover_the_box_and_the_prior(unit_model):
    objective = unit_model("RBF()").log_posterior()
    draws = draw_starts(objective, torch.Generator().manual_seed(0))
    assert draws.shape == (DRAWS, objective.dim)
    positive = draws[: DRAWS // 2, objective.is_log()]
    assert LOG_LOW <= positive.min() < LOG_LOW + 0.1
    assert LOG_HIGH - 0.1 < positive.max() <= LOG_HIGH
    mean, sd = objective.prior_moments()
    rest = draws[DRAWS // 2 :]
    standard_error = sd / math.sqrt(len(rest))
    assert bool(((rest.mean(0) - mean).abs() < 4.0 * standard_error).all())
    torch.testing.assert_close(draws[-1], mean)


def test_a_quarter_of_each_half_has_the_periods_that_the_data_show(
    unit_model, monkeypatch
):
    model = unit_model("Linear() + Periodic() * RBF()", n=40, d=1)
    objective = model.log_posterior()
    ((number, values),) = likely_values(objective).items()
    (name,) = [c.name for c in objective.coordinates if c.span.start == number]
    assert name.endswith("raw_period")
    draws = draw_starts(objective, torch.Generator().manual_seed(0))
    among = torch.isin(draws[:, number], values)
    half, quarter = DRAWS // 2, DRAWS // 4
    expected = [*range(quarter), *range(half, half + quarter)]
    assert among.nonzero().flatten().tolist() == expected
    levels = torch.linspace(0.1, 0.9, 9, dtype=torch.float64)
    # Neighbouring quantiles of a stratified draw may lie a step apart.
    found, wanted = (v.quantile(levels) for v in (draws[:quarter, number], values))
    torch.testing.assert_close(found, wanted, rtol=0.0, atol=0.1)
    monkeypatch.setattr("bokern.fitting.starts.likely_values", lambda _: {})
    plain = draw_starts(objective, torch.Generator().manual_seed(0))
    others = torch.arange(objective.dim) != number
    assert torch.equal(plain[:, others], draws[:, others])


@pytest.mark.parametrize("structure", ["Linear() + RBF()", "DeepSE()"])
def test_without_a_period_the_data_suggest_nothing(unit_model, structure):
    assert likely_values(unit_model(structure, d=1).log_posterior()) == {}


def test_screening_keeps_the_best_distinct(unit_model):
    objective = unit_model("RBF()").log_posterior()
    candidates = draw_starts(objective, torch.Generator().manual_seed(0))
    kept, values = screen_starts(objective, candidates, 5)
    everything = objective(candidates)
    assert values[0] == everything.max()
    assert bool((values[1:] <= values[:-1]).all())
    assert torch.cdist(kept, kept).fill_diagonal_(9.0).min() > 1.5
    all_alike = candidates[:1].expand(6, -1)
    assert len(screen_starts(objective, all_alike, 4)[0]) == 4


@pytest.mark.equivalence
def test_one_by_one_equals_batched(unit_model, monkeypatch):
    objective = unit_model("Matern(2.5)", n=15).log_posterior()
    batched = fit_map(objective, starts=3)
    monkeypatch.setattr("bokern.fitting.map.BATCHED_BELOW", 0)
    single = fit_map(objective, starts=3)
    assert single.objective == pytest.approx(batched.objective, abs=1e-9)


def test_no_usable_start_is_an_error(unit_model):
    model = unit_model("RBF()")
    model.train_targets[0] = math.nan
    with pytest.raises(FitError, match="none of 3 starts has a finite log posterior"):
        fit_map(model.log_posterior(), starts=3)


def test_without_priors_a_bound_is_named(unit_model):
    model = unit_model("RBF()", n=12, d=1)
    model.set_train_data(targets=2.0 * model.train_inputs[0][:, 0], strict=False)
    result = fit_map(model.log_posterior(use_prior=False), starts=4)
    assert "likelihood.noise_covar.raw_noise" in result.at_bound
    assert math.isfinite(result.objective)


def test_kernels_advise_starts_beside_those_drawn(monkeypatch):
    source = torch.Generator().manual_seed(0)
    X = torch.linspace(0.0, 1.0, 40, dtype=torch.float64).unsqueeze(-1)
    z = torch.sin(60.0 * X) + 2.0 * X
    z = z + 0.05 * torch.randn(40, 1, dtype=torch.float64, generator=source)
    model = StructuredGP(X, z, structure="ConditionalDeep(hyperdata=20)", starts=1)
    objective = model.log_posterior()
    advised = advised_starts(objective)
    assert advised.shape == (3, objective.dim)
    centre, _ = objective.prior_moments()
    for coordinate in objective.coordinates:
        part = advised[:, coordinate.span]
        if coordinate.name.endswith("base_kernel.base_kernel.raw_lengthscale"):
            expected = torch.tensor([[0.01], [0.02], [0.04]]).double().log()
            torch.testing.assert_close(part, expected, rtol=1e-6, atol=0.0)
        elif coordinate.name.endswith("raw_latent_scale"):
            assert (part == math.log(3.0)).all()
        elif coordinate.name.endswith("raw_mean_lengthscale"):
            assert (part == 0.0).all()
        else:
            assert (part == centre[coordinate.span]).all()
    with_advice = fit_map(objective, starts=1).objective
    monkeypatch.setattr("bokern.fitting.map.advised_starts", lambda _: advised[:0])
    assert with_advice > fit_map(objective, starts=1).objective + 5.0


@pytest.mark.parametrize(
    ("structure", "d"),
    [
        ("ConditionalDeep(hyperdata=19)", 1),
        ("ConditionalDeep(hyperdata=20)", 2),
        ("Matern(2.5)", 1),
    ],
)
def test_others_advise_none_of_their_own(structure, d):
    X = torch.rand(12, d, dtype=torch.float64)
    model = StructuredGP(X, X.sum(-1, keepdim=True), structure=structure)
    objective = model.log_posterior()
    assert advised_starts(objective).shape == (0, objective.dim)
