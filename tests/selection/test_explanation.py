"""What is said of a comparison's winner, and that its numbers are the model's."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from botorch.models.transforms.outcome import (
    Bilog,
    ChainedOutcomeTransform,
    Log,
    Standardize,
)

import bokern
from bokern.errors import InputError
from bokern.evidence import FLAGS
from bokern.models import StructuredGP
from bokern.models.yeo_johnson import YeoJohnson
from bokern.selection import Comparison, decomposition
from bokern.selection.attempt import Attempt
from bokern.selection.units import Units
from bokern.selection.verdict import Rival, flag_sentence, tried_sentence
from tests.tolerances import SUMS

SLOPE, PERIOD, NOISE = 20.0, 1.0, 0.5


@pytest.fixture(scope="module")
def series() -> pd.DataFrame:
    """Five years of months: a trend, a yearly period, noise."""
    generator = torch.Generator().manual_seed(4)
    x = 1949.0 + torch.arange(60, dtype=torch.float64) / 12.0
    noise = NOISE * torch.randn(60, generator=generator, dtype=torch.float64)
    y = SLOPE * (x - 1949.0) + 5.0 * torch.sin(2.0 * torch.pi * x / PERIOD) + noise
    return pd.DataFrame({"year": x, "sales": y})


@pytest.fixture(scope="module")
def seasonal(series) -> Comparison:
    structures = ["Linear() + Periodic()", "RBF()"]
    return bokern.compare(structures, series[["year"]], series["sales"])


def test_a_known_trend_and_period_in_raw_units(seasonal, series) -> None:
    explanation = seasonal.explain()
    trend, season = explanation.components
    assert (trend.structure, season.structure) == ("Linear()", "Periodic()")
    period = float(
        re.search(r"period ([\d.]+) \(its range holds 4.9\)", season.phrase)[1]
    )
    assert period == pytest.approx(PERIOD, rel=0.01)
    ((name, slope, sd),) = trend.slopes
    assert name == "year"
    assert abs(slope - SLOPE) < 4.0 * sd
    least_squares = np.polyfit(series["year"], series["sales"], 1)[0]
    assert slope == pytest.approx(least_squares, abs=1.0)
    assert f"rising by {slope:.1f}".rstrip("0").rstrip(".") in trend.sentence
    assert explanation.noise_sd[0] == explanation.noise_sd[1]
    # 55 degrees of freedom: a relative error of a tenth, three times over.
    assert explanation.noise_sd[0] == pytest.approx(NOISE, rel=0.3)
    assert trend.share > 0.9
    assert season.share == pytest.approx(12.5 / series["sales"].var(), rel=0.1)


def test_parts_constant_and_residual_are_the_data(comparison) -> None:
    for structure in comparison.structures:
        explanation = comparison.explain(structure)
        total = sum(c.mean for c in explanation.components) + explanation.constant
        whole = total + explanation.residual
        scale = comparison.y.std().item()
        assert (whole - comparison.y).abs().max() < SUMS * scale
        model = comparison.model(structure)
        posterior = model.posterior(comparison.X).mean.squeeze(-1).detach()
        torch.testing.assert_close(total, posterior, rtol=0, atol=100 * SUMS * scale)
        shares = [c.share for c in explanation.components]
        assert shares == sorted(shares, reverse=True)
        every = sum(shares) + explanation.noise_share + explanation.shared
        assert every == pytest.approx(1.0, abs=SUMS)


def test_a_single_part_has_the_posterior_of_the_model(comparison) -> None:
    explanation = comparison.explain("RBF()")
    (component,) = explanation.components
    model = comparison.model("RBF()")
    reference = explanation.reference
    assert (comparison.X - reference).abs().sum(-1).min() == 0.0
    for cut, column in zip(component.slices, (0, 1), strict=True):
        assert cut.column == comparison.column_names[column]
        points = reference.repeat(len(cut.grid), 1)
        points[:, column] = cut.grid
        posterior = model.posterior(points)
        mean = posterior.mean.squeeze(-1).detach()
        tolerance = 100 * SUMS * comparison.y.std().item()
        shown = cut.mean + explanation.constant
        torch.testing.assert_close(shown, mean, rtol=0, atol=tolerance)
        variance = posterior.variance.squeeze(-1).detach()
        torch.testing.assert_close(
            cut.sd.square(), variance, rtol=0, atol=tolerance * comparison.y.std()
        )
    low, high = comparison.bounds[:, 0].tolist()
    assert component.slices[0].grid[[0, -1]].tolist() == pytest.approx([low, high])


def test_only_columns_that_a_part_reads_have_slices(comparison) -> None:
    (component,) = comparison.explain("Linear(columns=['b'])").components
    assert [cut.column for cut in component.slices] == ["b"]
    assert component.structure == "Linear(columns=['b'])"


def test_what_was_not_compared_is_refused(comparison) -> None:
    with pytest.raises(InputError, match="was not compared"):
        comparison.explain("Matern(2.5)")


def test_text_json_and_html(comparison) -> None:
    explanation = comparison.explain()
    text = str(explanation)
    for sentence in (*explanation.findings, *explanation.verdict):
        assert sentence in text
    assert html.escape(explanation.headline) in explanation._repr_html_()
    document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert document["structure"] == str(comparison.best)
    assert document["findings"] == list(explanation.findings)
    assert len(document["components"][0]["mean"]) == len(comparison.y)
    assert document["rival"]["structure"] == str(comparison.structures[1])
    gap = comparison.evidences[0].log_evidence - comparison.evidences[1].log_evidence
    assert document["rival"]["gap"] == gap
    assert repr(explanation) == f"<Explanation of {comparison.best}: 1 part>"


def test_the_scale_on_which_parts_add_up_is_named(series) -> None:
    positive = series["sales"] - series["sales"].min() + 1.0
    found = bokern.search(
        series[["year"]], positive, ["Linear()"], outcome="log", smc=False
    )
    explanation = found.explain()
    assert explanation.headline == (
        "Linear(): log(sales), the scale on which the parts add up, is one part and "
        "noise."
    )
    total = explanation.constant + explanation.components[0].mean
    whole = (total + explanation.residual).exp()
    np.testing.assert_allclose(whole, positive, rtol=1e-9)


def test_very_many_rows_are_drawn_from(comparison, monkeypatch) -> None:
    monkeypatch.setattr(decomposition, "MOST_ROWS", 10)
    explanation = comparison.explain("Linear() + RBF()")
    assert len(explanation.data.y) == len(explanation.residual) == 10
    assert explanation.rows == len(comparison.y)
    assert "All is taken from 10 of 16 rows, drawn at random." in str(explanation)
    total = sum(c.mean for c in explanation.components) + explanation.constant
    whole = total + explanation.residual
    torch.testing.assert_close(whole, explanation.data.y, rtol=1e-9, atol=1e-9)
    again = comparison.explain("Linear() + RBF()")
    assert torch.equal(again.data.y, explanation.data.y)


def test_names_are_escaped_in_html(series) -> None:
    frame = series.rename(columns={"year": "<b>x</b>", "sales": "<i>"})
    found = bokern.compare(["RBF()"], frame[["<b>x</b>"]], frame["<i>"], starts=1)
    shown = found.explain()._repr_html_()
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert "&lt;b&gt;x" in shown


# -- the verdict ------------------------------------------------------------------


def with_evidence(comparison, *changes) -> Comparison:
    """The first candidates with other evidences."""
    candidates = [
        replace(c, evidence=replace(comparison.evidences[0], **change))
        for c, change in zip(comparison.candidates, changes, strict=False)
    ]
    return Comparison(candidates, comparison.data, comparison.settings)


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.4, "no preference; average rather than pick."),
        (2.0, "a weak preference; average rather than pick."),
        (4.0, "a moderate preference; average rather than pick."),
        (6.0, "a strong preference."),
    ],
)
def test_the_closest_rival_and_its_gap(comparison, gap, words) -> None:
    found = with_evidence(comparison, {"log_evidence": 0.0}, {"log_evidence": -gap})
    first, second = found.structures
    line = found.explain().verdict[0]
    assert line == (
        f"The closest rival is {second}, {gap:.1f} nats behind (both by Laplace's "
        f"method, without sampling error): {words}"
    )
    other = found.explain(second).verdict[0]
    assert other.startswith(f"The best structure is {first}, {gap:.1f} nats ahead")


def test_errors_of_the_gap_add_in_squares() -> None:
    rival = Rival("RBF()", 6.2, False, 0.5, "a strong preference", ("smc", "smc"))
    assert "6.2 nats behind (standard error 0.5)" in rival.sentence
    mixed = replace(rival, integrals=("smc", "laplace"))
    assert "(standard error 0.5; sampling and Laplace's method)" in mixed.sentence


@pytest.mark.parametrize(
    ("gap", "leads", "start", "prior"),
    [
        (-0.6, False, "The closest rival is RBF(), 0.6 nats ahead", "less probable"),
        (0.6, True, "The best structure is RBF(), 0.6 nats behind", "more probable"),
        (0.6, False, "The closest rival is RBF(), 0.6 nats behind", None),
        (-0.6, True, "The best structure is RBF(), 0.6 nats ahead", None),
    ],
)
def test_where_the_prior_decides_it_is_said(gap, leads, start, prior) -> None:
    line = Rival("RBF()", gap, leads, 0.0, "no preference", ("smc", "smc")).sentence
    assert line.startswith(start)
    assert ("by its prior" in line) is (prior is not None)
    assert prior is None or f"though {prior} by its prior" in line


def test_the_error_of_a_gap(comparison) -> None:
    found = with_evidence(
        comparison,
        {"log_evidence": 0.0, "integration": "smc", "standard_error": 0.3},
        {"log_evidence": -3.0, "integration": "smc", "standard_error": 0.4},
    )
    assert found.explain().rival.standard_error == pytest.approx(0.5)


def test_flags_of_both_are_said(comparison) -> None:
    found = with_evidence(
        comparison,
        {"log_evidence": 0.0, "flags": ("ONE_HIT",)},
        {"log_evidence": -3.0, "flags": ("AT_BOUND", "BLIND")},
    )
    first, second = found.structures
    verdict = found.explain().verdict
    assert f"{first} carries ONE_HIT ({FLAGS['ONE_HIT']})." in verdict
    assert flag_sentence(str(second), ("AT_BOUND", "BLIND")) in verdict


def test_one_structure_alone_has_no_rival(comparison) -> None:
    found = with_evidence(comparison, {"flags": ()})
    explanation = found.explain()
    assert explanation.rival is None
    assert explanation.verdict == (
        "It carries no flag.",
        "1 structure was compared.",
    )
    assert json.dumps(explanation.to_dict())


def test_what_was_tried() -> None:
    assert tried_sentence((), 5, 0) == "5 structures were compared."
    assert tried_sentence((), 5, 2) == (
        "5 structures were compared, 2 could not be fitted."
    )

    def attempt(status, round):
        return Attempt("RBF()", "", "", round, -1.0, status, 600, 0.1)

    trace = [
        attempt("finalist", 0),
        attempt("finalist", 2),
        attempt("converged", 1),
        attempt("scouted", 1),
        attempt("pruned", 2),
        attempt("failed", 1),
    ]
    assert tried_sentence(trace, 3, 1) == (
        "6 structures were tried in 2 rounds of expansion, with 3,600 likelihood "
        "evaluations: 2 sampled, 1 optimised to the end, 1 looked at, 1 dropped as far "
        "behind and 1 failed."
    )
    never = replace(trace[0], status="pruned", score=None)
    assert tried_sentence([never, *trace], 3, 1).endswith(
        "1 failed and 1 left when the budget was spent."
    )
    assert tried_sentence(trace[:1], 1, 0).startswith(
        "1 structure was tried, with 600 likelihood evaluations"
    )


# -- units ------------------------------------------------------------------------


def outcome_model(transform, y) -> StructuredGP:
    X = torch.linspace(0.0, 1.0, len(y), dtype=torch.float64).unsqueeze(-1)
    return StructuredGP(X, y.unsqueeze(-1), outcome_transform=transform)


def test_units_of_outcome_transforms() -> None:
    y = torch.tensor([1.0, 2.0, 5.0, 4.0, 9.0], dtype=torch.float64)
    raw = Units.of(outcome_model(None, y))
    assert raw == Units(0.0, 1.0, "y", True)
    z_scored = Units.of(outcome_model(Standardize(1), y))
    assert z_scored.shift == pytest.approx(y.mean().item())
    assert z_scored.scale == pytest.approx(y.std().item())
    assert z_scored.is_raw
    chain = ChainedOutcomeTransform(log=Log(), standardize=Standardize(1))
    logs = Units.of(outcome_model(chain, y))
    assert logs.shift == pytest.approx(y.log().mean().item())
    assert logs.scale == pytest.approx(y.log().std().item())
    assert (logs.name, logs.is_raw) == ("log(y)", False)
    power = YeoJohnson(0.3)
    chain = ChainedOutcomeTransform(power=power, standardize=Standardize(1))
    assert Units.of(outcome_model(chain, y)).name == "Yeo–Johnson(y, power 0.3)"


def test_another_nonlinear_transform_is_named() -> None:
    y = torch.tensor([1.0, 2.0, 5.0, 4.0, 9.0], dtype=torch.float64)
    assert Units.of(outcome_model(Bilog(), y)).name == "Bilog(y)"
