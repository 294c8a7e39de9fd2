from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad

import bokern
from bokern.build import unfitted
from bokern.errors import FitError, InputError, StorageError
from bokern.evidence import laplace
from bokern.inputs import Observations, read_observations
from bokern.models import MixtureGP
from bokern.models.outcome import yeo_johnson_text
from bokern.models.transformed_mixture import TransformedMixturePosterior
from bokern.selection import Comparison, outcome
from bokern.selection.candidate import Settings
from bokern.selection.outcome import choose_outcome, with_outcome
from bokern.selection.power_integral import PowerIntegral, integrate_power

SEEDS = range(10)
INTERPOLATED = 0.05
"""Nats: eight powers, between which log Z is interpolated."""

LAPLACE = 0.1
"""Nats: the same between warm-started fits and fits of many starts."""


def draw(seed: int, n: int = 20) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs in the unit square and a noisy draw of a Matérn-5/2 there."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 2, generator=generator, dtype=torch.float64)
    r = math.sqrt(5.0) * torch.cdist(X, X) / 0.4
    K = (1.0 + r + r.square() / 3.0) * torch.exp(-r)
    L = torch.linalg.cholesky(K + 0.01 * torch.eye(n, dtype=torch.float64))
    return X, L @ torch.randn(n, generator=generator, dtype=torch.float64)


def gains(choice) -> dict[str, float]:
    """Nats over the identity, of those that could be tried."""
    base = choice.rows[0].log_evidence
    return {
        row.transform.partition("(")[0]: row.log_evidence - base
        for row in choice.rows[1:]
        if row.log_evidence is not None
    }


# -- the integral over the power ------------------------------------


def curves():
    return {
        "narrow": lambda v: -0.5 * ((v - 0.63) / 0.07) ** 2,
        "at an end": lambda v: -40.0 * v + 6.0 * v**2,
        "wide": lambda v: -0.5 * ((v - 1.2) / 0.8) ** 2,
        "skewed": lambda v: 30.0 * (math.log1p(3.0 * v) - 2.0 * v),
    }


@pytest.mark.oracle
@pytest.mark.parametrize("name", curves())
def test_the_integral_over_the_power(name):
    curve = curves()[name]
    asked = []

    def log_evidence(power: float) -> float:
        asked.append(power)
        return curve(power) - 70.0

    found = integrate_power(log_evidence, curve(1.0) - 70.0)
    prior = stats.truncnorm(-1.0, 1.0, loc=1.0)
    grid = np.linspace(0.0, 2.0, 2001)
    joint = np.array([curve(v) for v in grid]) + prior.logpdf(grid)
    best = grid[joint.argmax()]
    total, _ = quad(
        lambda v: math.exp(curve(v) + prior.logpdf(v) - joint.max()),
        0.0,
        2.0,
        points=[best],
    )
    expected = math.log(total) + joint.max() - 70.0
    assert found.log_evidence == pytest.approx(expected, abs=INTERPOLATED)
    assert found.power == pytest.approx(best, abs=0.03)
    assert len(asked) == 7
    assert len({*asked, 1.0}) == 8


def test_powers_that_fail_are_left_out():
    found = integrate_power(lambda power: None, -5.0)
    assert found.power == 1.0
    assert found.log_evidence < -5.0
    some = integrate_power(lambda power: 0.0 if power < 1.0 else None, 0.0)
    assert some.power <= 1.0
    assert -math.log(2.0) - INTERPOLATED < some.log_evidence < 0.0


@pytest.mark.oracle
def test_the_evidence_of_yeo_johnson_by_many_full_fits():
    X, y = draw(3)
    data = read_observations(X, y.exp())
    (_, _, row) = choose_outcome(data, Settings()).rows
    grid = np.linspace(0.0, 2.0, 17)
    values = [
        laplace(
            unfitted("Matern(2.5)", data, outcome=yeo_johnson_text(power)).fit()
        ).log_evidence
        for power in grid
    ]
    density = np.array(values) + stats.truncnorm(-1.0, 1.0, loc=1.0).logpdf(grid)
    top = density.max()
    expected = top + math.log(np.trapezoid(np.exp(density - top), grid))
    assert row.log_evidence == pytest.approx(expected, abs=LAPLACE)
    assert row.power == pytest.approx(grid[density.argmax()], abs=0.125)


# -- what is chosen ------------------------------------


def test_log_normal_targets_are_logged():
    chosen = []
    for seed in SEEDS[:3]:
        X, y = draw(seed, n=30)
        choice = choose_outcome(read_observations(X, (1.5 * y).exp()), Settings())
        chosen.append(choice.text)
        gain = gains(choice)
        assert gain["log"] > 5.0
        assert choice.note == (
            f"targets were transformed by log: {gain['log']:.1f} nats over none"
        )
    assert chosen == ["log"] * 3


def test_penalties_and_heavy_tails_are_drawn_in():
    for seed, value in ((0, 1e3), (1, 1e3), (2, 1e6)):
        X, y = draw(seed)
        worst = y.topk(3).indices
        y[worst] = value
        choice = choose_outcome(read_observations(X, y), Settings())
        assert choice.rows[1].log_evidence is None
        assert "needs positive targets" in choice.rows[1].reason
        assert choice.rows[2].power < 0.5
        assert choice.text == choice.rows[2].transform
        assert gains(choice)["yeo-johnson"] > 20.0


def test_the_left_tail_is_drawn_in_as_the_right_one():
    X, y = draw(0)
    y[y.topk(3).indices] = 1e3
    right, left = (choose_outcome(read_observations(X, v), Settings()) for v in (y, -y))
    assert left.rows[2].power == pytest.approx(2.0 - right.rows[2].power, abs=0.02)
    values = [c.rows[2].log_evidence for c in (right, left)]
    assert values[0] == pytest.approx(values[1], abs=LAPLACE)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("shape", "kept"),
    [("gaussian", 9), ("positive", 7)],
    ids=["Gaussian", "Gaussian and positive"],
)
def test_gaussian_targets_are_kept(shape, kept):
    """A ratio of evidences above e happens by chance in at most 1/e of all cases."""
    texts = []
    for seed in SEEDS:
        X, y = draw(seed)
        y = y - y.min() + 1.0 if shape == "positive" else y
        texts.append(choose_outcome(read_observations(X, y), Settings()).text)
    assert texts.count("identity") >= kept


@pytest.mark.slow
@pytest.mark.statistical
def test_log_normal_targets_of_ordinary_spread_are_found():
    texts = []
    for seed in SEEDS:
        X, y = draw(seed, n=40)
        texts.append(choose_outcome(read_observations(X, y.exp()), Settings()).text)
    assert texts.count("log") >= 9


@pytest.mark.parametrize(("gain", "chosen"), [(0.9, False), (1.1, True), (-3.0, False)])
def test_less_than_a_nat_prefers_nothing(monkeypatch, gain, chosen):
    monkeypatch.setattr(
        outcome,
        "integrate_power",
        lambda log_evidence, identity: PowerIntegral(identity + gain, 0.4),
    )
    choice = choose_outcome(small(), Settings())
    assert choice.text == ("yeo-johnson(0.4)" if chosen else "identity")
    words = "by yeo-johnson(0.4): 1.1 nats over none" if chosen else f"best {gain:+.1f}"
    assert words in choice.note


def test_the_table_has_a_row_a_transform():
    X, y = draw(0)
    table = choose_outcome(read_observations(X, y + 10.0), Settings()).table
    assert list(table.columns) == ["transform", "power", "log_evidence", "reason"]
    assert list(table["transform"].str.partition("(")[0]) == [
        "identity",
        "log",
        "yeo-johnson",
    ]
    assert table["log_evidence"].notna().all()
    assert table["power"].isna().tolist() == [True, True, False]
    plain = laplace(bokern.fit("Matern(2.5)", X, y + 10.0)).log_evidence
    assert table["log_evidence"][0] == pytest.approx(plain)


def test_many_rows_are_thinned(monkeypatch):
    monkeypatch.setattr(outcome, "MAX_ROWS", 12)
    X, y = draw(0)
    data = read_observations(X, (3.0 * y).exp())
    first, second = (choose_outcome(data, Settings()) for _ in range(2))
    assert first == second
    assert "on 12 of 20 rows" in first.note
    other = choose_outcome(data, Settings(seed=1))
    assert other.rows[0].log_evidence != first.rows[0].log_evidence


# -- what the user asks for ------------------------------------


def small(y=None) -> Observations:
    X, drawn = draw(5, n=12)
    return read_observations(X, drawn if y is None else y)


def test_explicit_transforms_are_taken_as_they_are():
    data = small(draw(5, n=12)[1].exp())
    assert choose_outcome(data, Settings(), "identity").note == ""
    for text in ("log", "yeo-johnson(0.4)"):
        choice = choose_outcome(data, Settings(), text)
        assert choice.text == text
        assert choice.rows == ()
        assert choice.note == f"targets were transformed by {text}, as asked"


def test_a_power_is_chosen_even_where_none_is_better():
    choice = choose_outcome(small(), Settings(), "yeo-johnson")
    assert choice.text == choice.rows[1].transform
    assert choice.rows[1].power == pytest.approx(1.0, abs=0.7)
    assert f"by {choice.text}: " in choice.note


@pytest.mark.parametrize("what", ["log", "sqrt", "yeo-johnson(3)", None])
def test_what_does_not_suit_is_refused(what):
    with pytest.raises(InputError):
        choose_outcome(small(), Settings(), what)


def test_known_noise_keeps_the_targets():
    X, y = draw(5, n=12)
    data = read_observations(X, y.exp(), noise=0.1)
    choice = choose_outcome(data, Settings())
    assert choice.text == "identity"
    assert "noise is known" in choice.note
    for what in ("log", "yeo-johnson", "yeo-johnson(0.5)"):
        with pytest.raises(InputError, match="leave the noise to be inferred"):
            choose_outcome(data, Settings(), what)


def test_a_transform_that_fails_is_not_chosen(monkeypatch):
    fit = outcome.refit

    def fails(model, like):
        if "log" in getattr(model.outcome_transform, "_modules", {}):
            raise FitError("no start")
        return fit(model, like)

    monkeypatch.setattr(outcome, "refit", fails)
    X, y = draw(0)
    choice = choose_outcome(read_observations(X, (1.5 * y).exp()), Settings())
    assert choice.rows[1].log_evidence is None
    assert choice.rows[1].reason == "no start"
    assert choice.text != "log"


def test_notes_and_settings_carry_the_choice():
    data, settings = with_outcome(
        small(draw(5, n=12)[1].exp()), Settings(starts=2), "log"
    )
    assert settings == Settings(starts=2, outcome="log")
    assert data.notes[-1] == "targets were transformed by log, as asked"
    with pytest.raises(InputError, match="outcome is expected"):
        Settings(outcome="auto")


# -- comparisons ------------------------------------


@pytest.fixture(scope="module")
def found() -> Comparison:
    X, y = draw(1)
    options = {"starts": 2, "outcome": "auto"}
    structures = ["RBF()", "Matern(2.5)", "Matern(1.5)"]
    return bokern.compare(structures, X, (1.5 * y).exp(), **options)


def test_a_comparison_says_what_it_did(found):
    assert found.settings.outcome == "log"
    assert any(n.startswith("targets were transformed by log: ") for n in found.notes)
    assert "note: targets were transformed by log" in str(found)
    assert found.evidences[0] - found.evidences[1] >= 0.0


def test_a_comparison_is_one_of_logs(found):
    X, y = draw(1)
    by_hand = bokern.compare(found.structures, X, 1.5 * y, starts=2)
    assert by_hand.structures == found.structures
    for one, other in zip(found.evidences, by_hand.evidences, strict=True):
        gap = -(1.5 * y).sum().item()
        assert one.log_evidence == pytest.approx(other.log_evidence + gap, abs=1e-6)


def test_models_predict_in_raw_units(found):
    model = found.model()
    posterior = model.posterior(found.X)
    assert bool((posterior.mean > 0).all())
    ratio = posterior.mean.squeeze(-1) / found.y
    assert 0.5 < ratio.median().item() < 2.0
    mixture = found.model(average=True)
    assert isinstance(mixture, MixtureGP)
    together = mixture.posterior(found.X)
    assert isinstance(together, TransformedMixturePosterior)
    assert len(mixture.members) > 1
    torch.testing.assert_close(
        together.mixture_mean, posterior.mean, rtol=0.3, atol=0.0
    )
    assert bool((together.rsample(torch.Size([8])) > 0).all())


def test_a_comparison_survives_json(found):
    again = Comparison.from_json(found.to_json())
    assert again.settings == found.settings
    assert again.notes == found.notes
    for average in (False, True):
        first, second = (
            c.model(average=average).posterior(c.X) for c in (found, again)
        )
        torch.testing.assert_close(first.mean, second.mean)
        torch.testing.assert_close(first.variance, second.variance)


def test_comparisons_stored_before_there_were_transforms_load(found):
    document = json.loads(found.to_json())
    document["settings"] = asdict(Settings(starts=2))
    del document["settings"]["outcome"]
    old = Comparison.from_json(json.dumps(document))
    assert old.settings.outcome == "identity"
    assert not hasattr(old.model().posterior(old.X), "mixture_mean")


@pytest.mark.parametrize("text", ["sqrt", 3, "yeo-johnson(9)"])
def test_garbled_transforms_are_refused(found, text):
    document = json.loads(found.to_json())
    document["settings"]["outcome"] = text
    with pytest.raises(StorageError, match="changed by hand"):
        Comparison.from_json(json.dumps(document))


def test_compare_refuses_what_does_not_suit():
    X, y = draw(1)
    with pytest.raises(InputError, match="needs positive targets"):
        bokern.compare(["RBF()"], X, y, outcome="log")
